/** A rival: an episode ends with its first answer, so that all turns of the budget are first attempts. */

import { defineTurns } from 'turnwise';

export const oneAttempt = defineTurns({
  name: 'one-attempt',
  summary: 'an episode ends with its first answer',
  after({ transitions }, { done }) {
    const answer = transitions.at(-1)?.facts?.answer;
    return !done && typeof answer === 'string' && answer !== '' ? { stop: 'done' } : 'go on';
  },
});
