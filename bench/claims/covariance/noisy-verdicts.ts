/** Verdicts that err: a share of the episodes is paid as if it had failed where it succeeded, and the reverse. Evaluations are not. */

import { Rng } from 'turnwise';
import { defineShaping, z } from 'turnwise/credit';

export const noisyVerdicts = defineShaping(
  {
    name: 'noisy-verdicts',
    summary: 'pays success, the wrong way round in a share of the episodes',
    needs: [],
    uses: ['success'],
    wholeSteps: true,
  },
  z.strictObject({
    share: z.number().min(0).max(1).default(0.2).describe('Share of episodes with a wrong verdict'),
  }),
  ({ share }) =>
    (trajectories, state) => {
      const steps = typeof state.steps === 'number' ? state.steps : 0;
      const rng = Rng.of('noisy-verdicts', steps);
      return {
        trajectories: trajectories.map((trajectory) => {
          const outcome = rng.chance(share) !== trajectory.success ? 1 : 0;
          const last = trajectory.turns.length - 1;
          const turns = trajectory.turns.map((turn, k) => ({ ...turn, reward: k === last ? outcome : 0 }));
          return { ...trajectory, outcome, turns };
        }),
        state: { ...state, steps: steps + 1 },
      };
    },
);
