/** HGPO: turns are compared with turns that share ever more of the history before them. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { creditTurns, turnStarts } from '../../kit/turns.ts';
import {
  both,
  type Comparison,
  compareWithin,
  type Partition,
  statisticsWithin,
  withoutSingles,
} from '../../kit/within.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { anchorParts, episodeParts, stepReturns } from './gigpo.ts';

export const hgpo: CreditMethod = defineCreditMethod(
  {
    name: 'hgpo',
    title: 'HGPO',
    summary: 'turns compared with turns in the same state, with more weight on equal histories',
    formula: `A = Σ_k w_k·a_k / Σ_k w_k,   w_k = (k+1)^α,   over context depths k = 1 … K+1
a_k = (G - mean) / F over turns of the group that agree in their last k anchors,   G_t = r_t + γ·G_{t+1}
F   = population std + ε ("mean-std") or 1 ("mean")`,
    source: '"HGPO: Hierarchy-of-Groups Policy Optimization", arXiv 2602.22817',
    deviations: [
      'Like the released code, `zeros=drop` leaves comparisons of exactly 0 out of the weights, among them comparisons with nobody. `zeros=keep` leaves out only the latter, as in the paper.',
      'Like the released code, it uses the population standard deviation; GiGPO uses the sample one (`std`).',
      'Like the released code, it does not compare whole episodes, unless `baseGroup` adds this comparison as depth 0.',
      'The weights are divided by their sum without an ε: with a comparison, the sum is above 0.',
    ],
    level: 'turn',
    needs: ['turns[].anchor'],
    example: '--method hgpo --set K=1 --set normalisation=mean',
  },
  z.strictObject({
    K: z.number().int().min(0).default(2).describe('The number of earlier turns that histories compare.'),
    alpha: z.number().default(1).describe('Exponent of the weights of deeper comparisons: (k+1)^alpha.'),
    gamma: z.number().min(0).max(1).default(0.95).describe('Discount per turn.'),
    normalisation: z
      .enum(['mean-std', 'mean'])
      .default('mean-std')
      .describe('Whether differences from the mean are divided by the standard deviation.'),
    std: z
      .enum(['population', 'sample'])
      .default('population')
      .describe('Standard deviation: "population" divides by n, "sample" by n - 1.'),
    zeros: z
      .enum(['drop', 'keep'])
      .default('drop')
      .describe('Whether a comparison of at least two turns that gives exactly 0 counts in the weights.'),
    baseGroup: z
      .boolean()
      .default(false)
      .describe('Whether the comparison of whole episodes joins as depth 0.'),
    epsilon: z.number().positive().default(1e-6).describe('Added to the standard deviation.'),
  }),
  ({ K, alpha, gamma, normalisation, std, zeros, baseGroup, epsilon }) =>
    (trajectories, state) => {
      const comparison: Comparison = { spread: normalisation === 'mean' ? 'none' : std, epsilon };
      const returns = stepReturns(trajectories, gamma);
      const sums = new Float64Array(returns.length);
      const weights = new Float64Array(returns.length);
      const add = (compared: Float64Array, weight: number, counts: (turn: number) => boolean): void => {
        for (let turn = 0; turn < compared.length; turn++) {
          if (!counts(turn)) continue;
          sums[turn]! += weight * compared[turn]!;
          weights[turn]! += weight;
        }
      };
      if (baseGroup) {
        const episodes = episodeParts(trajectories, 'trajectory', {
          ...comparison,
          spread: normalisation === 'mean' ? 'none' : 'sample',
        });
        add(episodes, 1, (turn) => zeros === 'keep' || episodes[turn] !== 0);
      }
      const present = anchorParts('hgpo', trajectories);
      let history = present;
      for (let depth = 1; depth <= K + 1; depth++) {
        // Who is alone with a history is compared with nobody, and stays alone in deeper ones.
        if (depth > 1) history = withoutSingles(both(oneTurnLater(trajectories, history), present));
        const compared = compareWithin(returns, history, comparison);
        const { keys } = history;
        const counts = zeros === 'keep' ? statisticsWithin(returns, history).counts : [];
        add(compared, (depth + 1) ** alpha, (turn) =>
          zeros === 'drop' ? compared[turn] !== 0 : keys[turn]! >= 0 && counts[keys[turn]!]! > 1,
        );
      }
      for (let turn = 0; turn < sums.length; turn++) if (weights[turn] !== 0) sums[turn]! /= weights[turn]!;
      return { credits: creditTurns(trajectories, sums), state };
    },
);

/** Each turn in the part that the turn before it was in; first turns are in none. */
function oneTurnLater(trajectories: readonly CreditTrajectory[], { keys, count }: Partition): Partition {
  const starts = turnStarts(trajectories);
  const later = new Int32Array(keys.length).fill(-1);
  for (let index = 0; index < trajectories.length; index++) {
    const start = starts[index]!;
    const end = starts[index + 1]!;
    if (end > start) later.set(keys.subarray(start, end - 1), start + 1);
  }
  return { keys: later, count };
}
