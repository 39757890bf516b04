/**
 * How far what is trained is from what sampled: the log-probabilities that the sampler wrote down against those of the first
 * pass of a step, before any update.
 *
 * Rows carry the sampler's numbers in the channel `samplerLogprobs` where their tokens were sampled in this step; demonstrations
 * and episodes of earlier steps do not. Where no row has it, nothing is measured.
 */

import type { Trajectory } from '../../core/trajectory.ts';
import type { TokenRow } from '../../engine/engine.ts';
import { multiply } from '../../graph/operators/elementwise.ts';
import { sum } from '../../graph/operators/reduce.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { klEstimate, logRatio } from '../../objective/regularizer/kl.ts';
import { recordedOf } from '../off-policy/rows.ts';

/** The metric of a measured pass: the KL of the trained policy from the one that sampled, by k3, a mean over its tokens. */
export const SAMPLER_GAP = 'sampler/gap';

/** The same rows and objective, whose pass measures the gap besides; as they are where no row was sampled in this step. */
export function besideSampler(
  rows: readonly TokenRow[],
  objective: Objective,
): { readonly rows: readonly TokenRow[]; readonly objective: Objective } {
  if (!rows.some(({ channels }) => channels.samplerLogprobs)) return { rows, objective };
  const isFresh = ({ channels }: TokenRow, token: number): boolean =>
    token > 0 && channels.samplerLogprobs !== undefined && channels.weight![token]! > 0;
  let tokens = 0;
  for (const row of rows) for (const token of row.ids_T.keys()) tokens += isFresh(row, token) ? 1 : 0;
  return {
    rows: rows.map((row) => ({
      ...row,
      channels: {
        ...row.channels,
        samplerLogprobs: row.channels.samplerLogprobs ?? new Float32Array(row.ids_T.length),
        sampledShare: Float32Array.from(row.ids_T, (_, token) => (isFresh(row, token) ? 1 / tokens : 0)),
      },
    })),
    objective: measured(objective),
  };
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
  return rows.map(({ ids_T, channels: { samplerLogprobs: _, ...channels } }) => ({ ids_T, channels }));
}
