/** A rival: GiGPO whose states are the last two, so that it compares turns that also came from the same place. */

import { defineCreditMethod, findCreditMethod, z } from 'turnwise/credit';

const { credit } = findCreditMethod('gigpo').create({});

export const lastTwo = defineCreditMethod(
  {
    name: 'last-two',
    summary: 'gigpo that compares turns in the same state after the same state',
    needs: ['turns[].anchor'],
  },
  z.strictObject({}),
  () => (trajectories, state) => {
    const remembering = trajectories.map((trajectory) => ({
      ...trajectory,
      turns: trajectory.turns.map((turn, k) => ({
        ...turn,
        anchor: JSON.stringify([trajectory.turns[k - 1]?.anchor ?? '', turn.anchor]),
      })),
    }));
    return { credits: credit(remembering, {}).credits, state };
  },
);
