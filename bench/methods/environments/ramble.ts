/**
 * An answer that is right or wrong by chance, whatever is said, and then as many further words as the policy likes. It
 * sees whether it was right, as a model may feel it; only that is paid, so no length is better than another.
 */

import { user } from '../../../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';

interface State {
  readonly answer: 'none' | 'right' | 'wrong';
  readonly words: number;
  readonly [key: string]: string | number;
}

export function ramble({ longest = 24 } = {}): Environment {
  return defineEnvironment<Record<string, never>, State>({
    name: 'ramble',
    description: 'an answer, and words after it',
    maxTurns: longest,
    tasks: () => ({ size: 8, at: () => ({}) }),
    start: () => ({ state: { answer: 'none', words: 0 }, messages: [user('question')] }),
    step: (state, action, rng) => {
      const answer = state.answer === 'none' ? (rng.chance(0.5) ? 'right' : 'wrong') : state.answer;
      const words = state.words + 1;
      const done = state.answer !== 'none' && (action === 'end' || words === longest);
      const success = answer === 'right';
      return {
        state: { answer, words },
        observation: done ? '' : answer,
        reward: done && success ? 1 : 0,
        done,
        success: done && success,
        valid: true,
      };
    },
    anchor: ({ answer }) => answer,
    actions: ({ answer }) => (answer === 'none' ? ['answer'] : ['end', 'more', 'and', 'so']),
  }) as unknown as Environment;
}
