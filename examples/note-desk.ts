/** An environment of tools over real files: find the note that answers a question. `npx turnwise train ./note-desk.ts` trains it. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, defineTools, z } from 'turnwise';

/** Who sits in which room, and the room that is asked for: a line of note-desk.jsonl. */
interface Task {
  readonly notes: Readonly<Record<string, string>>;
  readonly ask: string;
}

interface Desk {
  readonly folder: string;
}

const read = defineTool({
  name: 'read',
  description: 'Read the note about a room.',
  parameters: z.object({ room: z.enum(['red', 'green', 'blue', 'white']) }),
  run: ({ room }, { folder }: Desk, signal) => readFile(join(folder, room), { encoding: 'utf8', signal }),
});

export const noteDesk = defineTools<Task, Desk>({
  name: 'note-desk',
  description: 'Say who sits in a room; the notes about all rooms lie on the desk.',
  maxTurns: 4,
  tasks: './note-desk.jsonl',
  tools: [read],
  async setup({ notes }, signal) {
    const folder = await mkdtemp(join(tmpdir(), 'note-desk-'));
    const write = ([room, name]: [string, string]) => writeFile(join(folder, room), name, { signal });
    try {
      await Promise.all(Object.entries(notes).map(write));
    } catch (error) {
      await rm(folder, { recursive: true });
      throw error;
    }
    return { folder };
  },
  prompt: ({ ask }) => `who ${ask}`,
  score: ({ task, answer, calls }) => ({
    reward: answer === task.notes[task.ask] ? 1 : 0,
    metrics: { reads: calls.length },
  }),
  teardown: ({ folder }) => rm(folder, { recursive: true }),
  solve: ({ task, calls }) =>
    calls.length === 0 ? { tool: 'read', arguments: { room: task.ask } } : { answer: calls.at(-1)!.result },
  stumble: ({ task }, _, rng) => ({ answer: rng.pick(Object.values(task.notes)) }),
  moves: ({ task }) => Object.keys(task.notes).map((room) => ({ tool: 'read', arguments: { room } })),
  truth: ({ notes, ask }) => notes[ask]!,
  // Copying a name takes a small model some practice; half of the beginners only guess.
  settings: {
    clone: { steps: 250, randomRate: 0.1 },
    model: { width: 64, layers: 2, heads: 4, hidden: 128 },
    optimizer: { learningRate: 2e-3 },
    rollout: { tasks: 16 },
    steps: 20,
  },
});
