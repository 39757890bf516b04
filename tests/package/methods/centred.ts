/** A credit method as a user writes it; docs/your-own-methods.md shows it. */

import { defineCreditMethod, z } from 'turnwise/credit';

export const centred = defineCreditMethod(
  { name: 'centred', summary: 'outcome minus a constant' },
  z.strictObject({ centre: z.number().default(0.5).describe('What is subtracted') }),
  ({ centre }) =>
    (trajectories, state) => ({
      credits: trajectories.map(({ id, outcome, turns }) => ({
        id,
        turnAdvantages_K: turns.map(() => outcome - centre),
      })),
      state,
    }),
);
