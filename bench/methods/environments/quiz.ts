/** Questions, each with one right word, asked one an episode. What the right word pays, and what any word pays, is settable. */

import { user } from '../../../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';
import { secretWord, WORDS } from './words.ts';

interface State {
  readonly question: number;
  readonly [key: string]: number;
}

export interface QuizOptions {
  readonly questions: number;
  readonly words: number;
  /** Paid for any answer. */
  readonly base: number;
  /** Paid besides for the right one: question i has entry i, from the beginning again after the last. */
  readonly gains: readonly [number, ...number[]];
}

export function quiz(given: Partial<QuizOptions> = {}): Environment {
  const { questions, words, base, gains }: QuizOptions = {
    questions: 8,
    words: 4,
    base: 0,
    gains: [1],
    ...given,
  };
  const legal = WORDS.slice(0, words);
  return defineEnvironment<State, State>({
    name: 'quiz',
    description: 'one question, one word',
    maxTurns: 1,
    tasks: () => ({ size: questions, at: (index) => ({ question: index % questions }) }),
    start: (task) => ({ state: task, messages: [user(`question:${task.question}`)] }),
    step: (state, action) => {
      const success = action === secretWord(state.question, words);
      return {
        state,
        observation: '',
        reward: base + (success ? gains[state.question % gains.length]! : 0),
        done: true,
        success,
        valid: legal.includes(action as (typeof WORDS)[number]),
      };
    },
    anchor: ({ question }) => `question ${question}`,
    actions: () => legal,
    solve: ({ question }) => secretWord(question, words),
  }) as unknown as Environment;
}
