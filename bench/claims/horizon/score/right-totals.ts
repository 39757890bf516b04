/** Each attempt earns its share of right totals, whatever the world paid; turns say which attempt they belong to. */

import { defineShaping, z } from 'turnwise/credit';

export const rightTotals = defineShaping(
  {
    name: 'right-totals',
    summary: 'each attempt earns its share of right totals, or the second one alone',
    needs: ['turns[].correct'],
    uses: ['turns[].answer'],
    ownRewards: true,
  },
  z.strictObject({
    totals: z.int().min(1).default(8).describe('Totals of an attempt'),
    attempts: z.enum(['both', 'second']).default('both').describe('Attempts that are paid'),
  }),
  ({ totals, attempts }) =>
    (trajectories, state) => ({
      trajectories: trajectories.map((trajectory) => {
        // What was no number was asked again: it belongs to the attempt, and is none of its totals.
        let told = 0;
        const turns = trajectory.turns.map((turn) => {
          const attempt = told < totals ? 0 : 1;
          told += (turn.answer ?? '') === '' ? 0 : 1;
          const isPaid = turn.correct === true && (attempts === 'both' || attempt === 1);
          return { ...turn, attempt, reward: isPaid ? 1 / totals : 0 };
        });
        return { ...trajectory, turns, outcome: turns.reduce((sum, { reward }) => sum + reward, 0) };
      }),
      state,
    }),
);
