/**
 * Filtered behaviour cloning: imitation of the best share of trajectories, by return.
 *
 *   loss = -Σ over kept sequences of weight · log π;   kept: reward ≥ the (1 - share) quantile
 *
 * Sources: LMRL-Gym, arXiv 2311.18232; as the baseline of ArCHer, arXiv 2402.19446 (share 0.1).
 * 1. The cut is over the sequences of the step. Where it should be over everything seen so far, filter with
 *    `keepBest` first and use cross-entropy.
 * 2. Weights are scaled so that what is kept has the total weight of the whole step.
 */

import { z } from 'zod';
import { quantile } from '../../core/statistics.ts';
import { multiply } from '../../graph/operators/elementwise.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { finiteInput } from '../contract/step-input.ts';
import { crossEntropy } from './cross-entropy.ts';

const schema = z.strictObject({
  share: z.number().gt(0).max(1).default(0.1).describe('Share of the sequences that is imitated'),
});

/** Which returns are among the best share, ties with the last of them included. */
export function keepBest(returns: readonly number[], share: number): boolean[] {
  for (const [index, value] of returns.entries()) finiteInput(value, `return ${index}`);
  if (returns.length === 0) return [];
  const cut = quantile(returns, 1 - share);
  return returns.map((value) => value >= cut);
}

/** Reads sequences. Metrics: `clone/probability`, `imitation/kept` (sequences). */
export const filteredBc: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'filtered-bc',
    title: 'Filtered behaviour cloning',
    summary: 'imitates the best trajectories only',
    formula: '-Σ_{R ≥ quantile} w log π',
    source: 'arXiv 2311.18232; arXiv 2402.19446',
    family: 'imitation',
  },
  schema,
  ({ share }) => {
    const inner = crossEntropy();
    return {
      channels: ['kept'],
      needs: { sequences: true },
      prepare: ({ row_N, channels, sequences }) => {
        const best = keepBest(
          sequences.map(({ reward }) => reward),
          share,
        );
        const kept = sequences.filter((_, index) => best[index]);
        const rows = new Set(kept.flatMap((sequence) => sequence.rows));
        let [whole, remaining] = [0, 0];
        for (const [target, weight] of channels.weight!.entries()) {
          whole += weight;
          if (rows.has(row_N[target]!)) remaining += weight;
        }
        const scale = remaining > 0 ? whole / remaining : 0;
        return {
          channels: { kept: Float32Array.from(row_N, (row) => (rows.has(row) ? scale : 0)) },
          metrics: { 'imitation/kept': kept.length },
        };
      },
      build: (tokens) => inner.build({ ...tokens, weight: multiply(tokens.weight, tokens.channel('kept')) }),
    };
  },
);
