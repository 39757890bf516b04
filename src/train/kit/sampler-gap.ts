/**
 * How far what is trained is from what sampled: the log-probabilities that the sampler wrote down against those of the first
 * pass of a step, before any update.
 *
 * The channel `samplerLogprobs` holds the sampler's numbers of tokens that were sampled in this step; those of demonstrations and
 * of earlier steps have none (NaN). Where no target has one, nothing is measured.
 */

import type { Trajectory } from '../../core/trajectory.ts';
import type { TokenBatch, TokenTargets } from '../../engine/engine.ts';
import type { TokenRow } from '../../engine/token-batch.ts';
import { multiply } from '../../graph/operators/elementwise.ts';
import { sum } from '../../graph/operators/reduce.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { klEstimate, logRatio } from '../../objective/regularizer/kl.ts';
import { recordedOf } from '../off-policy/rows.ts';

/** The metric of a measured pass: the KL of the trained policy from the one that sampled, by k3, a mean over its tokens. */
export const SAMPLER_GAP = 'sampler/gap';

/** The same targets and objective, whose pass measures the gap besides; as they are where none was sampled in this step. */
export function besideSampler(
  targets: TokenTargets,
  objective: Objective,
): { readonly targets: TokenTargets; readonly objective: Objective } {
  const { weight, samplerLogprobs } = targets.channels;
  const isFresh = (target: number): boolean =>
    !Number.isNaN(samplerLogprobs![target]!) && weight![target]! > 0;
  const fresh = samplerLogprobs ? [...samplerLogprobs.keys()].filter(isFresh).length : 0;
  if (samplerLogprobs === undefined || fresh === 0) return { targets, objective };
  const channels = {
    ...targets.channels,
    samplerLogprobs: samplerLogprobs.map((logprob) => (Number.isNaN(logprob) ? 0 : logprob)),
    sampledShare: Float32Array.from(weight!, (_, target) => (isFresh(target) ? 1 / fresh : 0)),
  };
  return { targets: { ...targets, channels }, objective: measured(objective) };
}

function measured(objective: Objective): Objective {
  return {
    ...objective,
    key: `${objective.key} beside its sampler`,
    channels: [...objective.channels, 'samplerLogprobs', 'sampledShare'],
    build: (tokens) => {
      const { loss, metrics } = objective.build(tokens);
      const x = logRatio(tokens.channel('samplerLogprobs'), tokens.logprobs);
      const gap = sum(multiply(tokens.channel('sampledShare'), klEstimate('k3', x)));
      return { loss, metrics: { ...metrics, [SAMPLER_GAP]: gap } };
    },
  };
}

/** Rows of the samples of some episodes, in their order, with the sampler's numbers where the episode is of this step. */
export function withSampler(
  rows: readonly TokenRow[],
  episodes: readonly Trajectory[],
  playedNow: ReadonlySet<string>,
): TokenRow[] {
  const logprobs = recordedOf(episodes).flatMap(({ episode, samples }) =>
    samples.map(({ logprobs_T }) => (playedNow.has(episode.id) ? logprobs_T : undefined)),
  );
  return rows.map((row, index) => {
    const samplerLogprobs = logprobs[index];
    return samplerLogprobs ? { ...row, channels: { ...row.channels, samplerLogprobs } } : row;
  });
}

/** Rows that were not sampled in this step, or not by the policy. */
export function withoutSampler(rows: readonly TokenRow[]): TokenRow[] {
  return rows.map((row) => ({ ...row, channels: unsampled(row.channels) }));
}

/** The same of a whole batch. */
export function withoutSamplerNumbers<Batch extends Pick<TokenBatch, 'targets'>>(batch: Batch): Batch {
  return { ...batch, targets: { ...batch.targets, channels: unsampled(batch.targets.channels) } };
}

function unsampled({ samplerLogprobs: _, ...channels }: TokenRow['channels']): TokenRow['channels'] {
  return channels;
}
