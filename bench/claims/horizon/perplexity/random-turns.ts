/** A placebo: a random share of the turns is learned from, whatever the policy thought of them. */

import { defineCuration, z } from 'turnwise';

export const randomTurns = defineCuration({
  name: 'random-turns',
  summary: 'a random share of all turns',
  weighs: true,
  options: z.strictObject({
    share: z.number().gt(0).max(1).default(0.7).describe('Share of turns that are learned from'),
  }),
  choose: (_groups, { rng, options: { share } }) => ({
    choice: ({ transitions }) => ({
      inBaseline: true,
      inLoss: true,
      weight: 1,
      weights_K: transitions.map(() => (rng.chance(share) ? 1 : 0)),
    }),
  }),
});
