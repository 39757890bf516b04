/** A made-up run, for tests of what people are shown. */

import type { TimedEvent } from '../store/event-log.ts';
import { RunDirectory } from '../store/run-directory.ts';
import type { EvaluationResult, StoredEvent } from '../train/events.ts';
import type { Episode } from './episode-text.ts';

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
    { type: 'evaluation', step: 0, label: 'before', ...before },
    step(1, 0.5),
    { type: 'warning', code: 'nothing-learned', message: 'step 1: no update was made' },
    step(2, 0.7),
    { type: 'evaluation', step: 2, label: 'during', ...during },
  ];
  if (!finished) return start;
  return [
    ...start,
    step(3, 0.85),
    step(4, 0.93),
    { type: 'evaluation', step: 4, label: 'after', ...after },
    {
      type: 'finish',
      summary: {
        before,
        after,
        steps: 4,
        tokens: { sampled: 4800, trained: 16_000, forward: 36_000 },
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

export const failedEpisode: Episode = {
  turns: [
    {
      messages: [{ role: 'user', content: 'rows+1 cols+0 left:free down:hole' }],
      text: 'down',
      reward: 0,
      valid: true,
    },
  ],
  outcome: 0,
  success: false,
  stop: 'done',
};

export const solvedEpisode: Episode = {
  turns: [
    {
      messages: [{ role: 'user', content: 'rows+1 cols+0 left:free down:hole' }],
      text: 'jump',
      reward: -0.1,
      valid: false,
    },
    {
      messages: [{ role: 'user', content: 'invalid rows+1 cols+0 left:free down:hole' }],
      text: 'left',
      reward: 0,
      valid: true,
    },
    {
      messages: [{ role: 'user', content: 'rows+1 cols+1 right:free down:free' }],
      text: 'down',
      reward: 1,
      valid: true,
    },
  ],
  outcome: 0.9,
  success: true,
  stop: 'done',
};

/** The run as a folder under `root`, with one evaluation episode before and after. */
export async function writeExampleRun(root: string, name: string, finished = true): Promise<void> {
  const run = RunDirectory.create({
    root,
    name,
    version: '0.1.0',
    environment: 'frozen-lake',
    recipe: 'rloo',
    config: { seed: 1, steps: finished ? 4 : 8 },
  });
  for (const event of exampleEvents(finished)) run.events.append(event);
  await run.writeRollouts('evaluation-before', [{ id: 'evaluation/0', ...failedEpisode }]);
  await run.writeRollouts('evaluation-after', [{ id: 'evaluation/0', ...solvedEpisode }]);
  run.close();
}
