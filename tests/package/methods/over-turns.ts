/** A curation as a user writes it; docs/your-own-methods.md shows it. */

import { defineCuration } from 'turnwise';

export const overTurns = defineCuration({
  name: 'over-turns',
  summary: 'episodes that ran out of turns are not learned from',
  choose: () => ({
    choice: ({ stop }) => ({ inBaseline: true, inLoss: stop !== 'turn-limit', weight: 1 }),
  }),
});
