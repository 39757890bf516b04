/** Dense rewards: the progress that the environment sees in a turn is a reward of that turn. */

import { z } from 'zod';
import { missingField } from '../contract/needs.ts';
import { turnRewards } from '../kit/columns.ts';
import { withTurnRewards } from './rewards.ts';
import { defineShaping, each, type RewardShaping } from './shaping.ts';

export const denseRewards: RewardShaping = defineShaping(
  {
    name: 'dense',
    title: 'Dense rewards',
    summary: 'the environment’s own measure of progress, added to the reward of each turn',
    formula: 'r_k ← r_k + weight·Σ dense_k - still where the action of turn k changed nothing',
    source: 'Turnwise; rewards of turns as in MT-GRPO, arXiv 2505.11821',
    deviations: [
      'The sum is part of the outcome too, so the best policy may be another one where dense rewards are no difference of potentials.',
    ],
    needs: ['turns[].dense'],
    uses: ['turns[].effectiveActions'],
    example: '--method reinforce --shape dense --set gamma=0.5 --set baseline=batch --set scale=std',
  },
  z.strictObject({
    weight: z.number().min(0).default(1).describe('Factor on dense rewards.'),
    still: z.number().min(0).default(0).describe('Price of an action that changed nothing.'),
  }),
  ({ weight, still }) =>
    each((trajectory) => {
      const before = turnRewards(trajectory);
      const rewards_K = trajectory.turns.map(({ dense, effectiveActions = 1 }, k) => {
        if (dense === undefined) throw missingField('dense', trajectory, 'turns[].dense', k);
        const progress = dense.reduce((sum, one) => sum + one, 0);
        return before[k]! + weight * progress - (effectiveActions === 0 ? still : 0);
      });
      return withTurnRewards(trajectory, rewards_K);
    }),
);
