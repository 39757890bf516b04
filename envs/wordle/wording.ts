/** Wordle in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import { type Dictionary, feedback } from './feedback.ts';
import type { WordleState } from './index.ts';

/** Longer lists are not told: every episode would read them again. */
const MOST_TOLD = 100;

/** @param listed most survivors that are named */
export function wordleSentences(dictionary: Dictionary, listed: number): NaturalWording<WordleState> {
  const { words, rule } = dictionary;
  const [first = '', second = '', third = ''] = words;
  const list = words.length <= MOST_TOLD ? ` The words of the game are: ${words.join(', ')}.` : '';

  const describe = ({ secret, guesses }: WordleState): string => {
    const survivors = dictionary.survivors(secret, guesses);
    if (survivors.length <= listed) return possible(survivors);
    const told = guesses.map((guess) => {
      const colours = feedback(guess, secret, rule);
      return `${guess}: ${colours.map((colour, i) => `${guess[i]} ${colour}`).join(', ')}.`;
    });
    return [...(told.length === 0 ? ['Nothing is known yet.'] : told), QUESTION].join(' ');
  };

  return {
    instructions: [
      'Find a hidden word of five letters in six guesses. A letter of a guess is green where it is right, yellow where',
      `it belongs elsewhere, and grey otherwise. Answer with one word of the game and nothing else.${list}`,
    ].join(' '),
    example: [
      [`Nothing is known yet. ${QUESTION}`, third || first],
      [possible([first, second]), first],
    ],
    observe: (state, step) => {
      if (step?.success) return 'You found the word.';
      if (step?.done) return 'You have no guesses left.';
      return step?.valid === false ? `That is no word of the game. ${describe(state)}` : describe(state);
    },
  };
}

const QUESTION = 'What is your guess?';

function possible(survivors: readonly string[]): string {
  return `Still possible: ${survivors.join(', ')}. ${QUESTION}`;
}
