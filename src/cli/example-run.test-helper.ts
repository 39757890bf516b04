/** A made-up run, for tests of what people are shown. */

import type { Group } from '../core/episode.ts';
import { madeCall, madeEpisode, madeKey, madeTransition } from '../core/testing/made-episodes.ts';
import { roleGroups } from '../core/trajectory.ts';
import type { Episode } from '../show/episode-text.ts';
import type { TimedEvent } from '../store/event-log.ts';
import { RunDirectory } from '../store/run-directory.ts';
import type { EvaluationResult, StoredEvent } from '../train/loop/events.ts';
import { shown } from './terminal/run-examples.ts';

export function evaluation(success: number, reward = success): EvaluationResult {
  return {
    episodes: 200,
    success,
    successInterval: [success - 0.04, Math.min(1, success + 0.03)],
    return: reward,
    returnInterval: [reward - 0.05, reward + 0.05],
    turns: 5.25,
    stops: { done: 190, 'turn-limit': 10 },
  };
}

/** Events of a run whose success rises from 0.42 to 0.94 in four steps. */
export function exampleEvents(finished = true): StoredEvent[] {
  const results = [0.42, 0.75, 0.94].map((success) => ({
    sampled: evaluation(success),
    greedy: evaluation(Math.min(0.96, success + 0.3)),
  }));
  const [before, during, after] = results as [(typeof results)[0], (typeof results)[0], (typeof results)[0]];
  const spentAt = (steps: number) => ({
    episodes: 256 * steps,
    turns: 1350 * steps,
    tokens: 13_000 * steps,
    seconds: 36 * steps,
  });
  const step = (number: number, success: number): StoredEvent => ({
    type: 'step',
    step: number,
    steps: 4,
    metrics: {
      'reward/success': success,
      'reward/mean': success,
      'tokens/sampled': 1200,
      'tokens/trained': 4000,
      'tokens/forward': 9000,
      'speed/sample_tokens_per_s': 12_300,
      'speed/train_tokens_per_s': 6100,
    },
    spent: spentAt(number),
  });
  const start: StoredEvent[] = [
    {
      type: 'start',
      run: 'frozen-lake-rloo-1',
      environment: 'frozen-lake',
      recipe: 'rloo',
      seed: 1,
      parameters: 498_000,
      vocabulary: 62,
      identity: '0123456789abcdef',
      version: '0.1.0',
      testTasks: 'held-out',
    },
    { type: 'evaluation', step: 0, label: 'before', ...before, spent: spentAt(0) },
    step(1, 0.5),
    { type: 'warning', code: 'nothing-learned', message: 'step 1: no update was made' },
    step(2, 0.7),
    { type: 'evaluation', step: 2, label: 'during', ...during, spent: spentAt(2) },
  ];
  if (!finished) return start;
  return [
    ...start,
    step(3, 0.85),
    step(4, 0.93),
    { type: 'evaluation', step: 4, label: 'after', ...after, spent: spentAt(4) },
    {
      type: 'finish',
      summary: {
        before,
        after,
        steps: 4,
        tokens: { sampled: 4800, trained: 16_000, forward: 36_000, scored: 0 },
        episodes: 1024,
        turns: 5400,
        seconds: { clone: 6.2, rollout: 61, train: 82, evaluate: 12, total: 163 },
      },
    },
  ];
}

export function timed(events: readonly StoredEvent[]): TimedEvent[] {
  return events.map((event, index) => ({
    ...event,
    time: new Date(1_760_000_000_000 + index * 1000).toISOString(),
  }));
}

/** What was read, what was written, and what came of it. */
const turn = (number: number, read: string, text: string, reward: number, valid = true) => ({
  call: madeCall(number, 1, {
    messages: [{ role: 'user', content: read }],
    text,
    ...(number > 0 && { parent: number - 1 }),
  }),
  transition: madeTransition(number, reward, { action: text, valid }),
});

const played = (step: number, success: boolean, turns: readonly ReturnType<typeof turn>[]): Group => ({
  step,
  group: 0,
  members: [
    madeEpisode(
      0,
      turns.map(({ call }) => call),
      turns.map(({ transition }) => transition),
      { key: madeKey({ step, split: 'test' }), success: { agent: success } },
    ),
  ],
});

const failed = (step: number): Group =>
  played(step, false, [turn(0, 'rows+1 cols+0 left:free down:hole', 'down', 0)]);

const solved = (step: number): Group =>
  played(step, true, [
    turn(0, 'rows+1 cols+0 left:free down:hole', 'jump', -0.1, false),
    turn(1, 'invalid rows+1 cols+0 left:free down:hole', 'left', 0),
    turn(2, 'rows+1 cols+1 right:free down:free', 'down', 1),
  ]);

export const failedEpisode: Episode = shown(roleGroups([failed(0)])[0]!.members[0]!);
export const solvedEpisode: Episode = shown(roleGroups([solved(4)])[0]!.members[0]!);

/** The run as a folder under `root`, with one evaluation episode before and after. */
export async function writeExampleRun(root: string, name: string, finished = true): Promise<void> {
  const run = RunDirectory.create({
    root,
    name,
    version: '0.1.0',
    world: { name: 'frozen-lake', source: 'frozen-lake' },
    recipe: 'rloo',
    config: { seed: 1, steps: finished ? 4 : 8 },
  });
  for (const event of exampleEvents(finished)) run.events.append(event);
  run.storeRollouts({ world: { source: 'frozen-lake', options: {}, version: null }, tokenizer: null });
  await run.storeEvaluation(0, { sampled: [failed(0)], greedy: [] });
  await run.storeEvaluation(4, { sampled: [solved(4)], greedy: [] });
  await run.close();
}
