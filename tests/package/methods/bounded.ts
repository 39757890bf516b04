/** A loss as a user writes it; docs/your-own-methods.md shows it. */

import { clamp, multiply, negate, sum } from 'turnwise/graph';
import { defineObjective, z } from 'turnwise/objective';

export const bounded = defineObjective(
  { name: 'bounded', summary: 'log-likelihood times bounded advantage' },
  z.strictObject({ bound: z.number().positive().default(2).describe('Largest advantage, either way') }),
  ({ bound }) => ({
    channels: ['advantages'],
    needs: {},
    build: ({ weight, logprobs, channel }) => ({
      loss: negate(sum(multiply(weight, multiply(clamp(channel('advantages'), -bound, bound), logprobs)))),
      metrics: {},
    }),
  }),
);
