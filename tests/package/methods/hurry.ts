/** A reward shaping as a user writes it; docs/your-own-methods.md shows it. */

import { defineShaping, z } from 'turnwise/credit';

export const hurry = defineShaping(
  { name: 'hurry', summary: 'every turn costs' },
  z.strictObject({ cost: z.number().min(0).default(0.01).describe('Price of a turn') }),
  ({ cost }) =>
    (trajectories, state) => ({
      trajectories: trajectories.map((trajectory) => ({
        ...trajectory,
        outcome: trajectory.outcome - cost * trajectory.turns.length,
        turns: trajectory.turns.map((turn) => ({ ...turn, reward: turn.reward - cost })),
      })),
      state,
    }),
);
