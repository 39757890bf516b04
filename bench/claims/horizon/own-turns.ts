/**
 * An episode has so many turns of its own, wherever it goes on from. With starts at places of earlier episodes it reaches deeper than
 * it is long: what it repeats of them does not count.
 */

import { defineTurns, z } from 'turnwise';

export const ownTurns = defineTurns({
  name: 'own-turns',
  summary: 'an episode ends after so many turns of its own',
  options: z.strictObject({
    turns: z.int().min(1).default(6).describe('Turns of an episode from where it begins'),
  }),
  after({ calls, transitions }, { done, options: { turns } }) {
    const repeated = new Set(calls.filter(({ trainable }) => trainable === 'earlier').map(({ id }) => id));
    const own = transitions.filter(({ call }) => call === undefined || !repeated.has(call));
    return !done && own.length >= turns ? { stop: 'early-stop' } : 'go on';
  },
});
