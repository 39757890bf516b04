/** Learning from episodes that are kept, whoever played them: some are imitated more than others, or their values learned. */

import { batchOf, type TokenRow } from '../../engine/token-batch.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Replayed } from '../kit/archive.ts';
import { type Learn, learning } from '../kit/learn.ts';
import { withSampler } from '../kit/sampler-gap.ts';
import type { Trainer } from '../kit/trainer.ts';
import { draw, type Remembered, remember } from './replay.ts';

export interface ReplayMethod {
  /** Which of the kept episodes may be drawn. Default: all. */
  readonly eligible?: (kept: readonly Replayed[], config: TrainConfig) => readonly Replayed[];
  readonly rows: (
    episodes: readonly Replayed[],
    config: TrainConfig,
    trainer: Trainer,
  ) => Promise<TokenRow[]> | TokenRow[];
  /** The loss, and what may depend on all the episodes that are learned from. */
  readonly objective: (config: TrainConfig, eligible: readonly Replayed[]) => Objective;
  /** After every update, as target networks want it. */
  readonly afterwards?: (trainer: Trainer, config: TrainConfig) => Promise<void>;
}

/** `replay.updates` steps, each on `replay.batch` episodes that are drawn anew. */
export function learnFromReplay(method: ReplayMethod): Learn {
  return learning<Remembered>((config) => async (trainer, groups, { memory }) => {
    const kept = remember(memory, groups, config);
    const recalled = await trainer.recall(kept);
    const eligible = method.eligible?.(recalled, config) ?? recalled;
    const objective = method.objective(config, eligible);
    const rng = trainer.rng('replay');
    const playedNow = new Set(groups.flatMap(({ members }) => members.map(({ id }) => id)));
    for (let update = 0; update < config.replay.updates && eligible.length > 0; update++) {
      const episodes = draw(eligible, config.replay.batch, rng);
      const rows = withSampler(await method.rows(episodes, config, trainer), episodes, playedNow);
      if (rows.length === 0) continue;
      await trainer.policy.learn(batchOf(rows), objective);
      await method.afterwards?.(trainer, config);
    }
    const why = config.replay.updates === 0 ? 'replay.updates is 0' : 'no kept episode is to be learned from';
    const metrics = { 'replay/episodes': kept.length, 'replay/eligible': eligible.length };
    return { memory: { kept }, keep: kept, metrics, why };
  });
}
