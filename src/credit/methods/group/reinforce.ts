/** REINFORCE: the advantage of a turn is the discounted return from that turn on. */

import { z } from 'zod';
import { mean, populationStd } from '../../../core/statistics.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { creditTurns, flatRewards, sumToGo, turnStarts } from '../../kit/turns.ts';

export const reinforce: CreditMethod = defineCreditMethod(
  {
    name: 'reinforce',
    title: 'REINFORCE',
    summary: 'discounted return from each turn on',
    formula: `A_k = (G_k - b) / s,   G_k = Σ_{j ≥ k} γ^(j-k)·r_j
b = 0, or the mean of all turn returns in the batch;   s = 1, or their standard deviation + 1e-6`,
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
      .enum(['none', 'batch'])
      .default('none')
      .describe(
        'Division of every return: by nothing, or by the standard deviation over all turns of the batch.',
      ),
  }),
  ({ gamma, baseline, scale }) =>
    (trajectories, state) => {
      const returns = flatRewards(trajectories);
      sumToGo(returns, turnStarts(trajectories), gamma);
      if (returns.length > 0) {
        const centre = baseline === 'batch' ? mean(returns) : 0;
        const spread = scale === 'batch' ? populationStd([...returns]) + 1e-6 : 1;
        for (let turn = 0; turn < returns.length; turn++) returns[turn] = (returns[turn]! - centre) / spread;
      }
      return { credits: creditTurns(trajectories, returns), state };
    },
);
