/** The estimate of a run that begins or goes on: of pretrained models whose weights are here, since others are quick or elsewhere. */

import type { Group } from '../../core/episode.ts';
import type { TimedEvent } from '../../store/event-log.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { Learner } from '../../train/kit/learner.ts';
import type { EstimateEvent, StoredEvent } from '../../train/loop/events.ts';
import { isLocal, type ModelCard } from '../../train/model-card.ts';
import { loraOf } from '../model/run-model.ts';
import { estimateOf } from './estimate.ts';
import { freeMemory, memoryOf, memoryWarning, requireMemory } from './memory.ts';
import { timeEngine } from './timing.ts';
import { workloadOf } from './workload.ts';

/** Longest sequence that is assumed where nothing was played yet. */
const ASSUMED = 512;

/** Before the weights are read. @throws TurnwiseError `memory-insufficient` */
export function requireRoomFor(card: ModelCard, config: TrainConfig): void {
  if ('words' in card || !isLocal(card.shape)) return;
  const needed = memoryOf(card.shape, config, loraOf(config), ASSUMED);
  requireMemory(needed, freeMemory(), card.base.reference);
}

/** Times the engine, and tells what the run will take, with a warning where it does not fit; nothing for other models. */
export async function estimateRun(
  learner: Learner,
  demonstrations: readonly Group[],
  signal: AbortSignal,
): Promise<readonly [EstimateEvent, ...StoredEvent[]] | undefined> {
  const { card, config, engine } = learner;
  if ('words' in card || !isLocal(card.shape)) return undefined;
  const { longest } = workloadOf(learner, demonstrations);
  const memory = memoryOf(card.shape, config, loraOf(config), longest);
  // The weights are in memory by now.
  const free = freeMemory() + process.memoryUsage.rss();
  const timing = await timeEngine(engine, signal);
  const estimate = estimateOf(learner, demonstrations, timing, memory, free);
  const message = memoryWarning(memory, free, config);
  return [
    estimate,
    ...(message === undefined ? [] : [{ type: 'warning', code: 'memory-short', message } as const]),
  ];
}

/** The learner, and all others of its run, with the evaluations that the estimate chose. */
export function withEvaluations(learner: Learner, estimate: EstimateEvent | undefined): Learner {
  if (estimate === undefined) return learner;
  const { config, others } = learner;
  return {
    ...learner,
    config: { ...config, evaluation: { ...config.evaluation, ...estimate.evaluation } },
    others: others.map((other) => withEvaluations(other, estimate)),
  };
}

/** The estimate with which a run began. */
export function estimateIn(history: readonly TimedEvent[]): EstimateEvent | undefined {
  return history.find((event) => event.type === 'estimate');
}
