/** A rival: SPA-RL without its estimator. Every turn of an episode has made the same progress. */

import { defineCreditMethod, findCreditMethod, z } from 'turnwise/credit';

const { credit } = findCreditMethod('spa-rl').create({});

export const equalShares = defineCreditMethod(
  {
    name: 'equal-shares',
    summary: 'spa-rl with the outcome divided equally among the turns',
    needs: [],
    uses: ['outcome', 'turns[].valid'],
    wholeSteps: true,
  },
  z.strictObject({}),
  () => (trajectories, state) =>
    credit(
      trajectories.map((trajectory) => ({
        ...trajectory,
        turns: trajectory.turns.map((turn) => ({
          ...turn,
          progress: trajectory.outcome / trajectory.turns.length,
        })),
      })),
      state,
    ),
);
