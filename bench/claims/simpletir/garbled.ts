/** Wordle over a bad line: a tenth of the guesses arrive as something that is no word of the list. */

import { pureEnvironment } from 'turnwise/environments';

const plain = await pureEnvironment('wordle', {});

/** Share of the guesses that are garbled. */
const GARBLED = 0.1;

export const garbled: typeof plain = {
  ...plain,
  name: 'wordle-garbled',
  description: `${plain.description} A tenth of the guesses are garbled.`,
  step: (state, action, rng) => plain.step(state, rng.chance(GARBLED) ? '?' : action, rng),
};
