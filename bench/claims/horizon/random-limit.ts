/** A rival: the turn limit of each step is drawn from a list, so that it has the mean of a schedule and no order. */

import { defineTurns, z } from 'turnwise';

export const randomLimit = defineTurns({
  name: 'random-limit',
  summary: 'the turn limit of each episode is drawn from a list',
  options: z.strictObject({
    limits: z.array(z.int().min(1)).min(1).describe('Turn limits that are drawn, all alike'),
  }),
  limit: (_task, { rng, options: { limits } }) => rng.pick(limits),
});
