/** An episode has so many turns of its own, wherever it goes on from: with starts at places it reaches deeper than it is long. */

import { defineTurns, z } from 'turnwise';

export const ownTurns = defineTurns({
  name: 'own-turns',
  summary: 'an episode ends after so many turns of its own',
  options: z.strictObject({
    turns: z.int().min(1).default(6).describe('Turns of an episode from where it begins'),
  }),
  after: ({ transitions }, { done, options: { turns } }) =>
    !done && transitions.length >= turns ? { stop: 'early-stop' } : 'go on',
});
