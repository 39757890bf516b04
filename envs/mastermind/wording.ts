/** Mastermind in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { Codes } from './codes.ts';
import type { MastermindOptions, MastermindState } from './index.ts';

export function mastermindSentences(
  { pegs, colours, listed }: MastermindOptions,
  codes: Codes,
): NaturalWording<MastermindState> {
  const describe = ({ secret, guesses }: MastermindState): string => {
    const left = codes.survivors(secret, guesses);
    if (left.length <= listed) return possible(left.map((code) => codes.texts[code]!));
    const told = guesses.map((guess) => {
      const { exact, near } = codes.answer(guess, secret);
      return `${codes.texts[guess]}: ${exact} right, ${near} elsewhere.`;
    });
    return [...(told.length === 0 ? ['Nothing is known yet.'] : told), QUESTION].join(' ');
  };
  return {
    instructions: [
      `Find a secret code of ${pegs} colours. Colours are numbers from 1 to ${colours} and may repeat. After each guess you read`,
      'how many colours stand in the right place, and how many others belong elsewhere.',
      'Answer with a code, its numbers separated by spaces, and nothing else.',
    ].join(' '),
    example: [[possible([codes.texts[1]!, codes.texts[2]!]), codes.texts[1]!]],
    observe: (state, step) => {
      if (step?.success) return 'You found the code.';
      if (step?.done) return 'You have no guesses left.';
      return step?.valid === false ? `That is no code. ${describe(state)}` : describe(state);
    },
  };
}

const QUESTION = 'What is your guess?';

function possible(codes: readonly string[]): string {
  return `Still possible: ${codes.join('; ')}. ${QUESTION}`;
}
