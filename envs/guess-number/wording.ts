/** Guess the number in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { GuessState } from './index.ts';

export function guessSentences(range: number): NaturalWording<GuessState> {
  const middle = Math.floor((range + 1) / 2);
  return {
    instructions: [
      `Find a hidden number from 1 to ${range}. After each guess you read between which numbers it lies.`,
      'Answer with one of these numbers and nothing else.',
    ].join(' '),
    example: [[ask({ low: middle, high: range }), String(Math.floor((middle + range) / 2))]],
    observe: (state, step) => {
      if (step?.success) return 'You found the number.';
      return step?.valid === false ? `That is not a number from 1 to ${range}. ${ask(state)}` : ask(state);
    },
  };
}

function ask({ low, high }: Pick<GuessState, 'low' | 'high'>): string {
  return `The number is between ${low} and ${high}. What is your guess?`;
}
