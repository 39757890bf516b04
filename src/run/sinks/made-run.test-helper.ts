/** A run that never was, for sinks: imitation, two steps, an evaluation, episodes and a warning. */

import { madeCall, madeEpisode, madeGroup, madeTransition } from '../../core/testing/made-episodes.ts';
import type { TimedEvent } from '../../store/log-lines.ts';
import type { Sink, SinkRun, StoredEpisodes } from './sink.ts';

const began = Date.parse('2026-01-02T03:04:05.500Z');
const at = (seconds: number): string => new Date(began + seconds * 1000).toISOString();

export const sinkRun = (kept = 0, past: readonly TimedEvent[] = []): SinkRun =>
  ({
    run: 'made',
    folder: '/nowhere',
    environment: 'frozen-lake',
    recipe: 'rloo',
    config: { seed: 3, optimizer: { learningRate: 0.25, schedule: 'linear' }, fast: true },
    generation: past.length > 0 ? 2 : 1,
    kept,
    past: () => past,
  }) as unknown as SinkRun;

const result = { success: 0.5, successInterval: [0.25, 0.75], return: 1.5, turns: 4, episodes: 8 };

export const madeEvents: readonly TimedEvent[] = [
  { type: 'start', run: 'made', environment: 'frozen-lake', recipe: 'rloo', seed: 3, time: at(0) },
  { type: 'clone', step: 1, steps: 1, metrics: { 'clone/loss': 2 }, time: at(1) },
  { type: 'evaluation', step: 0, label: 'before', sampled: result, greedy: result, time: at(2) },
  { type: 'step', step: 1, steps: 2, metrics: { 'reward/mean': 0.25, 'stop/failed:tool': 1 }, time: at(3) },
  { type: 'warning', code: 'made-up', message: '# no heading', time: at(3.5) },
  { type: 'step', step: 2, steps: 2, metrics: { 'reward/mean': Number.NaN, 'policy/kl': 1e-9 }, time: at(4) },
] as unknown as TimedEvent[];

const ends = [0, 1, 1].map((reward, member) =>
  madeEpisode(
    member,
    [
      madeCall(0, 3, {
        at: 10,
        waitMs: 5,
        policyMs: 20,
        text: 'up',
        by: { kind: 'policy', name: 'policy', version: 7 },
      }),
    ],
    [madeTransition(0, reward, { at: 35, environmentMs: 2, action: 'up' })],
    member === 0 ? { stop: 'failed:tool', failure: 'no such tool' } : {},
  ),
);

export const madeEpisodes: StoredEpisodes = { step: 1, label: 'training', groups: [madeGroup(...ends)] };

/** Tell a sink of all of it. */
export async function tellAll(sink: Sink): Promise<void> {
  await sink.open?.(sinkRun());
  for (const event of madeEvents) {
    await sink.event(event);
    if (event.type === 'step' && event.step === 1) await sink.episodes?.(madeEpisodes);
  }
}
