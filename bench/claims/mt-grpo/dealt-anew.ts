/** A placebo: MT-GRPO with the intermediate rewards of each group dealt out anew to its turns. */

import { defineCreditMethod, findCreditMethod, z } from 'turnwise/credit';
import { dealtAnew } from '../dealt.ts';

const { credit } = findCreditMethod('mt-grpo').create({ form: 'multi-turn' });

export const dealtRewards = defineCreditMethod(
  {
    name: 'dealt-anew',
    summary: 'mt-grpo with intermediate rewards shuffled over the turns of a group',
    needs: ['turns[].dense'],
  },
  z.strictObject({}),
  () => (trajectories, state) => {
    const steps = typeof state.steps === 'number' ? state.steps : 0;
    const rewards = dealtAnew(trajectories, ({ dense }) => dense, steps);
    const dealt = trajectories.map((trajectory, index) => ({
      ...trajectory,
      turns: trajectory.turns.map((turn, k) => {
        const dense = rewards[index]![k];
        return dense === undefined ? turn : { ...turn, dense };
      }),
    }));
    return { credits: credit(dealt, {}).credits, state: { steps: steps + 1 } };
  },
);
