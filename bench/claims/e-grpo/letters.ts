/** What E-GRPO is told, in the simplest way: success is paid, and letters that were found are paid beside it, right or wrong. */

import { defineShaping, z } from 'turnwise/credit';

export const letters = defineShaping(
  {
    name: 'letters',
    summary: 'success, and a share of alpha for the entities that were found',
    needs: ['entityShare'],
    uses: ['success'],
  },
  z.strictObject({
    alpha: z.number().min(0).default(0.3).describe('What all entities are worth'),
    normalised: z.boolean().default(true).describe('Whether the best of a group counts as all'),
  }),
  ({ alpha, normalised }) =>
    (trajectories, state) => {
      const best = new Map<string, number>();
      for (const { groupId, entityShare = 0 } of trajectories)
        best.set(groupId, Math.max(best.get(groupId) ?? 0, entityShare));
      return {
        trajectories: trajectories.map((trajectory) => {
          const { groupId, success, entityShare = 0 } = trajectory;
          const most = normalised ? best.get(groupId)! : 1;
          const outcome = (success ? 1 : 0) + (most > 0 ? (alpha * entityShare) / most : 0);
          const last = trajectory.turns.length - 1;
          const turns = trajectory.turns.map((turn, k) => ({ ...turn, reward: k === last ? outcome : 0 }));
          return { ...trajectory, outcome, turns };
        }),
        state,
      };
    },
);
