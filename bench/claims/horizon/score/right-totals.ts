/** Each attempt earns its share of right totals, whatever the world paid; turns say which attempt they belong to. */

import { defineShaping, z } from 'turnwise/credit';

export const rightTotals = defineShaping(
  {
    name: 'right-totals',
    summary: 'each attempt earns its share of right totals, or the second one alone',
    needs: ['turns[].correct'],
    ownRewards: true,
  },
  z.strictObject({
    attempts: z.enum(['both', 'second']).default('both').describe('Attempts that are paid'),
  }),
  ({ attempts }) =>
    (trajectories, state) => ({
      trajectories: trajectories.map((trajectory) => {
        const half = trajectory.turns.length / 2;
        const turns = trajectory.turns.map((turn, k) => ({
          ...turn,
          attempt: k < half ? 0 : 1,
          reward: turn.correct === true && (attempts === 'both' || k >= half) ? 1 / half : 0,
        }));
        return { ...trajectory, turns, outcome: turns.reduce((sum, { reward }) => sum + reward, 0) };
      }),
      state,
    }),
);
