/** What a right answer pays in each attempt: `gamma` times less for every answer before it; an answer given again costs. */

import { defineShaping, z } from 'turnwise/credit';

export const paidAttempts = defineShaping(
  {
    name: 'paid-attempts',
    summary: 'a right answer earns less with every wrong one before it, repeated answers cost',
    needs: ['turns[].answer'],
    uses: ['turns[].correct'],
    ownRewards: true,
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(0.5).describe('Factor for each wrong answer before it'),
    lambda: z.number().min(0).default(0.5).describe('Cost of repeating a single answer'),
  }),
  ({ gamma, lambda }) =>
    (trajectories, state) => ({
      trajectories: trajectories.map((trajectory) => {
        const given: string[] = [];
        const rewards_K = trajectory.turns.map(({ answer = '', correct = false }) => {
          if (answer === '') return 0;
          given.push(answer);
          return correct ? gamma ** (given.length - 1) : 0;
        });
        const repeated = given.length === 0 ? 0 : 1 - new Set(given).size / given.length;
        if (rewards_K.length > 0) rewards_K[rewards_K.length - 1]! -= lambda * repeated;
        return {
          ...trajectory,
          outcome: rewards_K.reduce((sum, reward) => sum + reward, 0),
          turns: trajectory.turns.map((turn, k) => ({ ...turn, reward: rewards_K[k]! })),
        };
      }),
      state,
    }),
);
