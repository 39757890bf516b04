/**
 * Recorded actions as the scripted player of a server that has none. They are taken again on the server, so what is imitated is
 * what it says now, and a recording that no longer solves its task is no success.
 */

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { ActionProtocol } from '../protocol.ts';
import type { Session } from '../session.ts';
import { toolAction } from '../tool-protocol.ts';
import type { World } from '../world.ts';
import { remoteOptions } from './options.ts';

/** Options of remote environments whose servers have no scripted players. */
export const demonstratedOptions = remoteOptions.extend({
  demonstrations: z
    .string()
    .default('')
    .describe('File of actions to imitate, a line for each: {"task": 0, "actions": ["…"]}'),
});

const line = z.strictObject({
  /** Number of a task of the train split. */
  task: z.int().min(0),
  /** What the agent writes, the action alone, or a tool call as an object. */
  actions: z
    .array(
      z.union([
        z.string(),
        z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.json()).default({}) }),
      ]),
    )
    .min(1),
});

type Written = z.output<typeof line>['actions'][number];

interface Playing {
  readonly actions: readonly string[];
  next: number;
}

/**
 * `world` with a scripted player that follows the file at `path`, and with the tasks of the file as its train split. The world as
 * it is where `path` is empty.
 *
 * The expert takes the recorded actions in turn, then the last one again. A random player takes any action of the file.
 *
 * @throws TurnwiseError `demonstrations-invalid`
 */
export function withDemonstrations(world: World, path: string): World {
  if (path === '') return world;
  const recorded = readDemonstrations(path, world);
  const tasks = [...recorded.keys()];
  const every = [...recorded.values()].flat();
  const playing = new WeakMap<Session, Playing>();
  const train = world.tasks('train');
  const numbers = new Map(tasks.map((number) => [JSON.stringify(train.at(number)), number]));
  return {
    ...world,
    tasks: (split) =>
      split === 'train' ? { size: tasks.length, at: (index) => train.at(tasks[index]!) } : world.tasks(split),
    async open(task, rng, startRng) {
      const session = await world.open(task, rng, startRng);
      const number = numbers.get(JSON.stringify(task));
      if (number !== undefined) playing.set(session, { actions: recorded.get(number)!, next: 0 });
      return session;
    },
    script(session, kind, rng) {
      const current = playing.get(session);
      if (kind === 'random') return rng.pick(every);
      if (kind === 'beginner' || current === undefined) return undefined;
      return current.actions[Math.min(current.next++, current.actions.length - 1)];
    },
  };
}

/** Actions by the number of their task, in the order of the file. */
function readDemonstrations(path: string, world: World): Map<number, readonly string[]> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw invalid('The file of demonstrations cannot be read', path, { cause });
  }
  const { size } = world.tasks('train');
  const recorded = new Map<number, readonly string[]>();
  for (const [index, row] of text.split('\n').entries()) {
    if (row.trim() === '') continue;
    const place = `${path}, line ${index + 1}`;
    const { task, actions } = readLine(row, place);
    if (task >= size) throw invalid(`There is no train task ${task}`, place, { allowed: `0 to ${size - 1}` });
    recorded.set(
      task,
      actions.map((written) => actionOf(written, world.protocol, place)),
    );
  }
  if (recorded.size === 0) throw invalid('The file of demonstrations is empty', path);
  return recorded;
}

function readLine(row: string, place: string): z.output<typeof line> {
  let value: unknown;
  try {
    value = JSON.parse(row);
  } catch (cause) {
    throw invalid('A line of the demonstrations is not JSON', place, { cause });
  }
  const parsed = line.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(
    `A line of the demonstrations cannot be used: ${issue!.message} at "${issue!.path.join('.')}"`,
    place,
    { allowed: '{"task": 0, "actions": ["…"]}' },
  );
}

function actionOf(written: Written, protocol: ActionProtocol, place: string): string {
  const bare = typeof written === 'string' ? undefined : toolAction(written.name, written.arguments);
  const parsed = protocol.parse(bare === undefined ? (written as string) : protocol.format(bare));
  if (parsed.ok) return parsed.action;
  if (protocol.name === 'tags' && typeof written === 'string' && written.trim() !== '') return written.trim();
  throw invalid(`A demonstrated action cannot be read: ${parsed.problem}`, place);
}

function invalid(
  what: string,
  seen: string,
  more: { allowed?: string; cause?: unknown } = {},
): TurnwiseError {
  return new TurnwiseError('demonstrations-invalid', { what, seen, ...more });
}
