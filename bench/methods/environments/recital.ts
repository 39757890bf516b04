/** Turns of many words: at each a phrase is to be recited, and the end pays the share of words that were right. */

import { user } from '../../../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';
import { secretWord, WORDS } from './words.ts';

interface State {
  readonly turn: number;
  readonly right: number;
  readonly [key: string]: number;
}

/** `phrase` words a turn. Solved where nine words in ten were right; beginners say any words. */
export function recital({ turns = 1, phrase = 8, words = 2 } = {}): Environment {
  const legal = WORDS.slice(0, words);
  const phraseOf = (turn: number): string[] =>
    Array.from({ length: phrase }, (_, place) => secretWord(turn * phrase + place, words));
  return defineEnvironment<Record<string, never>, State>({
    name: 'recital',
    description: 'phrases to be recited',
    maxTurns: turns,
    tasks: () => ({ size: 8, at: () => ({}) }),
    start: () => ({ state: { turn: 0, right: 0 }, messages: [user('verse:0')] }),
    step: (state, action) => {
      const said = action.split(' ');
      const now = phraseOf(state.turn).filter((word, place) => said[place] === word).length;
      const next = { turn: state.turn + 1, right: state.right + now };
      const done = next.turn === turns;
      const share = next.right / (turns * phrase);
      return {
        state: next,
        observation: done ? '' : `verse:${next.turn}`,
        reward: done ? share : 0,
        done,
        success: done && share >= 0.9,
        valid: said.every((word) => legal.some((one) => one === word)),
      };
    },
    solve: ({ turn }) => phraseOf(turn).join(' '),
    stumble: (_state, rng) => Array.from({ length: phrase }, () => rng.pick(legal)).join(' '),
  }) as unknown as Environment;
}
