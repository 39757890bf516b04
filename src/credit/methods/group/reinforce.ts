/** REINFORCE: the advantage of a turn is the discounted return from that turn on, to the end of the episode or of its attempt. */

import { z } from 'zod';
import { mean, sampleStd } from '../../../core/statistics.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { creditTurns, flatRewards, sumToGo, turnStarts } from '../../kit/turns.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';

export const reinforce: CreditMethod = defineCreditMethod(
  {
    name: 'reinforce',
    title: 'REINFORCE',
    summary: 'discounted return from each turn on',
    formula: `A_k = (Σ_{j ≥ k} γ^(j-k)·r_j - b) / s
over the rest of the episode, or of the turn's attempt (within)
b = 0, or the mean of all turn returns in the batch;   s = 1, or their standard deviation`,
    source:
      'Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning", Machine Learning 8, 1992',
    deviations: [
      'An action is a turn, so the discount is per turn, not per token.',
      '`within: "attempt"` is ours, for SCoRe (arXiv 2409.12917): its bonus for a better second attempt would otherwise punish a right first one. Turns that tell no attempt form one.',
      'The batch baseline includes the turn’s own return, which shrinks the gradient by 1 - 1/n but not its direction.',
    ],
    level: 'turn',
    needs: [],
    uses: ['turns[].attempt'],
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(1).describe('Discount per turn.'),
    within: z
      .enum(['episode', 'attempt'])
      .default('episode')
      .describe('How far a return reaches: to the end of the episode, or of the turn’s attempt.'),
    baseline: z
      .enum(['none', 'batch'])
      .default('none')
      .describe('The baseline of every return: nothing, or the mean over all turns of the batch.'),
    scale: z
      .enum(['none', 'std'])
      .default('none')
      .describe('What every advantage is divided by: nothing, or the spread of all returns of the batch.'),
  }),
  ({ gamma, within, baseline, scale }) =>
    (trajectories, state) => {
      const returns = flatRewards(trajectories);
      sumToGo(returns, within === 'attempt' ? attemptStarts(trajectories) : turnStarts(trajectories), gamma);
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

/** Where attempts begin in the flat list of turns, and, last, how many turns there are. */
function attemptStarts(trajectories: readonly CreditTrajectory[]): Int32Array {
  const starts: number[] = [];
  let next = 0;
  for (const { turns } of trajectories) {
    for (const [k, turn] of turns.entries()) {
      if (k === 0 || (turn.attempt ?? 0) !== (turns[k - 1]!.attempt ?? 0)) starts.push(next);
      next++;
    }
  }
  return Int32Array.from([...starts, next]);
}
