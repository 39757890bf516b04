/** `turnwise replay`: a stored episode is played again, word for word, and goes on from any of its turns. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { visible } from '../../core/visible.ts';
import { playerSource } from '../../run/players/player-source.ts';
import { version } from '../../run/version.ts';
import { type Console, painter } from '../../show/console.ts';
import { formatScore } from '../../show/format.ts';
import type { PlayEvent, PlayMove } from '../../view/play/messages.ts';
import { playEpisode } from '../../view/play/play-episode.ts';
import { recordedBefore } from '../../view/play/recorded.ts';
import { RunsFolder } from '../../view/server/runs-folder.ts';
import { type Command, defineCommand } from '../command.ts';
import { stateText } from '../terminal/live-episode.ts';
import { askInput } from '../terminal/person-play.ts';

const options = z.strictObject({
  to: z
    .int()
    .min(0)
    .optional()
    .describe('Turns that are repeated; somebody goes on from there. Default: all'),
  policy: z
    .string()
    .default('checkpoint')
    .describe(
      'Who goes on: checkpoint, person, script:expert, script:beginner, script:random, RUN or RUN@STEP, openai:URL#MODEL or vllm:URL#MODEL',
    ),
  step: z.int().min(0).optional().describe('Which checkpoint goes on; default: the last'),
  label: z.enum(['sampled', 'greedy']).optional().describe('Of an evaluation: how it was played'),
  attempt: z.int().min(1).default(1).describe('Names the chance of what is sampled'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  json: z.boolean().default(false).describe('Print what happens as JSON lines'),
});

export const replayCommand: Command<typeof options> = defineCommand({
  name: 'replay',
  summary: 'Play a stored episode again, and go on from any of its turns',
  arguments: [
    { name: 'run', description: 'Name of the run', required: true },
    {
      name: 'episode',
      description: 'STEP/GROUP/MEMBER, such as 12/0/3 or evaluation-40/7/0',
      required: true,
    },
  ],
  options,
  examples: [
    'turnwise replay frozen-lake-rloo-1 12/0/3',
    'turnwise replay frozen-lake-rloo-1 12/0/3 --to 4 --attempt 2',
    'turnwise replay frozen-lake-rloo-1 12/0/3 --to 4 --policy person',
    'turnwise replay frozen-lake-rloo-1 12/0/3 --to 4 --policy script:expert',
  ],
  async run({ arguments: { run: name = '', episode = '' }, options, console, interrupts }) {
    const { runs: root, to, step, label, attempt, json } = options;
    const run = new RunsFolder({ root, version }).find(name);
    const place = { ...placeOf(episode), ...(label && { label }) };
    const recorded = await recordedBefore(run, place);
    const goesOn = to !== undefined && to < recorded.chain.transitions.length;
    const { policy } = options;
    const named = playerOf(policy);
    const player = goesOn ? named : undefined;
    const person = goesOn && policy === 'person' ? askInput(interrupts.signal) : undefined;
    const ended = new AbortController();
    const move = async (): Promise<PlayMove> => {
      const text = await person?.ask('  › ');
      if (text !== undefined) return { kind: 'type', text };
      // There is no more input.
      if (person) ended.abort();
      return { kind: 'rest' };
    };
    const { key, episode: before } = recorded;
    let end: Extract<PlayEvent, { kind: 'end' }> | undefined;
    try {
      await playEpisode({
        root,
        request: {
          run: name,
          split: key.split,
          task: Number(key.task),
          from: { ...place, turns: goesOn ? to : Number.POSITIVE_INFINITY },
          attempt,
          ...(step !== undefined && { checkpoint: step }),
        },
        ...(player !== undefined && { player }),
        move,
        signal: AbortSignal.any([interrupts.signal, ended.signal]),
        tell: (event) => {
          if (event.kind === 'end') end = event;
          if (json) console.write(`${JSON.stringify(event)}\n`);
          else tellInWords(event, console, player ?? 'the checkpoint');
        },
      });
    } finally {
      person?.close();
    }
    if (json || !end) return;
    const paint = painter(console.colour);
    const tellEnd = (name: string, { success, stop, outcome, failure }: Ended): void => {
      const solved = Object.values(success).some(Boolean);
      const returns = Object.values(outcome).map((value) => formatScore(Number(value)));
      const verdict = solved ? paint('green', '✓ solved') : paint('red', '✗ not solved');
      console.write(`  ${name}  ${verdict}  ${stop}, return ${returns.join(' and ')}\n`);
      if (failure !== undefined) console.write(`          ${visible(failure)}\n`);
    };
    const { differs = [] } = end;
    console.write('\n');
    if (goesOn || differs.length > 0) tellEnd('now   ', end);
    tellEnd('record', before);
    if (differs.length > 0)
      console.write(
        paint('yellow', `Replayed, it did not end as it was recorded: another ${differs.join(' and ')}\n`),
      );
  },
});

/** How an episode ended, played again or as it was recorded. */
interface Ended {
  readonly success: Readonly<Record<string, boolean>>;
  readonly stop: string;
  readonly outcome: object;
  readonly failure?: string;
}

/** @throws TurnwiseError `option-value` */
function placeOf(episode: string): {
  readonly place: string;
  readonly group: number;
  readonly member: number;
} {
  const [, place, group, member] = /^([a-z0-9-]+)\/(\d+)\/(\d+)$/.exec(episode) ?? [];
  if (place !== undefined) return { place, group: Number(group), member: Number(member) };
  throw new TurnwiseError('option-value', {
    what: 'An episode is named by its step, group and member',
    seen: episode,
    allowed: 'STEP/GROUP/MEMBER, such as 12/0/3 or evaluation-40/7/0',
    next: 'Find one with: turnwise view',
  });
}

/** Who plays in the place of the checkpoint; undefined where it plays itself, or a person. @throws TurnwiseError `option-value` */
function playerOf(policy: string): string | undefined {
  if (policy === 'checkpoint' || policy === 'person') return undefined;
  const { kind } = playerSource('policy', policy);
  if (kind !== 'learner' && kind !== 'past') return policy;
  throw new TurnwiseError('option-value', {
    what: 'Nobody of this name goes on with an episode',
    seen: policy,
    allowed: 'checkpoint, person, script:expert, a run or a model elsewhere',
    next: 'Name an earlier checkpoint of the run by its step: --step 10',
  });
}

/** @param policy who plays in the roles of the checkpoint */
function tellInWords(event: PlayEvent, console: Console, policy: string): void {
  const writers = { record: 'as recorded', policy, person: 'you', other: 'another player' } as const;
  const paint = painter(console.colour);
  if (event.kind === 'open') console.write(`${paint('bold', event.world)}  ${visible(event.task)}\n`);
  if (event.kind === 'problem') console.write(`${event.message}\n`);
  if (event.kind === 'state') {
    const messages = event.messages.map(({ content }) => ({ role: 'user' as const, content: content.text }));
    console.write(stateText(`turn ${event.turn + 1}`, event.picture, messages, console));
  }
  if (event.kind === 'turn')
    console.write(
      `  › ${visible(event.text.trim())}  ${paint('dim', visible(event.player ?? writers[event.by]))}\n`,
    );
}
