/** A placebo: GiGPO with turns dealt out anew to the states of their group, so that clusters keep their sizes and mean nothing. */

import { defineCreditMethod, findCreditMethod, z } from 'turnwise/credit';
import { dealtAnew } from '../dealt.ts';

const { credit } = findCreditMethod('gigpo').create();

export const randomClusters = defineCreditMethod(
  {
    name: 'random-clusters',
    summary: 'gigpo with random clusters of the same sizes',
    needs: ['turns[].anchor'],
  },
  z.strictObject({}),
  () => (trajectories, state) => {
    const steps = typeof state.steps === 'number' ? state.steps : 0;
    const anchors = dealtAnew(trajectories, ({ anchor }) => anchor, steps);
    const dealt = trajectories.map((trajectory, index) => ({
      ...trajectory,
      turns: trajectory.turns.map((turn, k) => {
        const anchor = anchors[index]![k];
        return anchor === undefined ? turn : { ...turn, anchor };
      }),
    }));
    return { credits: credit(dealt, {}).credits, state: { steps: steps + 1 } };
  },
);
