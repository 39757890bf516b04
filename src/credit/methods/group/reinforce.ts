/** REINFORCE: the advantage of a turn is the discounted return from that turn on. */

import { z } from 'zod';
import { mean, sampleStd } from '../../../core/statistics.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { creditTurns, flatRewards, sumToGo, turnStarts } from '../../kit/turns.ts';

export const reinforce: CreditMethod = defineCreditMethod(
  {
    name: 'reinforce',
    title: 'REINFORCE',
    summary: 'discounted return from each turn on',
    formula: `A_k = (Σ_{j ≥ k} γ^(j-k)·r_j - b) / s
b = 0, or the mean of all turn returns in the batch;   s = 1, or their standard deviation`,
    source:
      'Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning", Machine Learning 8, 1992',
    deviations: [
      'An action is a turn, so the discount is per turn, not per token.',
      'The batch baseline includes the turn’s own return, which shrinks the gradient by 1 - 1/n but not its direction.',
    ],
    level: 'turn',
    needs: [],
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(1).describe('Discount per turn.'),
    baseline: z
      .enum(['none', 'batch'])
      .default('none')
      .describe('The baseline of every return: nothing, or the mean over all turns of the batch.'),
    scale: z
      .enum(['none', 'std'])
      .default('none')
      .describe('What every advantage is divided by: nothing, or the spread of all returns of the batch.'),
  }),
  ({ gamma, baseline, scale }) =>
    (trajectories, state) => {
      const returns = flatRewards(trajectories);
      sumToGo(returns, turnStarts(trajectories), gamma);
      if (baseline === 'batch' && returns.length > 0) {
        const centre = mean(returns);
        for (let turn = 0; turn < returns.length; turn++) returns[turn]! -= centre;
      }
      // Equal returns have no spread to divide by.
      const spread = scale === 'std' && returns.length > 1 ? sampleStd([...returns]) : 1;
      if (spread > 1e-8) for (let turn = 0; turn < returns.length; turn++) returns[turn]! /= spread;
      return { credits: creditTurns(trajectories, returns), state };
    },
);
