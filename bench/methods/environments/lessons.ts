/**
 * A fixed number of turns of which only some matter: at these one word is right, at the others any word will do. The end
 * pays 1 where every turn that mattered was right.
 */

import { user } from '../../../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';
import { secretWord, WORDS } from './words.ts';

interface State {
  readonly turn: number;
  readonly right: number;
  readonly [key: string]: number;
}

export interface LessonsOptions {
  readonly turns: number;
  /** Which of them matter, from 0. */
  readonly matter: readonly number[];
  readonly words: number;
  /** Words of padding in every observation. */
  readonly padding: number;
  /** Whether the state, and so its anchor, tells what was right so far. */
  readonly tells?: boolean;
}

export function lessons(given: Partial<LessonsOptions> = {}): Environment {
  const { turns, matter, words, padding, tells }: LessonsOptions = {
    turns: 6,
    matter: [1, 4],
    words: 4,
    padding: 0,
    ...given,
  };
  const legal = WORDS.slice(0, words);
  const observation = (turn: number): string =>
    [`page:${turn}`, ...new Array<string>(padding).fill('and')].join(' ');
  const golden = matter.map((turn) => ({ name: secretWord(turn, words), arguments: { page: turn } }));
  return defineEnvironment<Record<string, never>, State>({
    name: 'lessons',
    description: 'pages of which some must be answered rightly',
    maxTurns: turns,
    facts: ['dense', 'answerProbability', 'calls', 'goldenCalls', 'entityShare'],
    tasks: () => ({ size: 8, at: () => ({}) }),
    start: () => ({ state: { turn: 0, right: 0 }, messages: [user(observation(0))] }),
    step: (state, action) => {
      const matters = matter.includes(state.turn);
      const correct = matters && action === secretWord(state.turn, words);
      const right = state.right + (correct ? 1 : 0);
      const turn = state.turn + 1;
      const done = turn === turns;
      const success = done && right === matter.length;
      return {
        state: { turn, right },
        observation: done ? '' : observation(turn),
        reward: success ? 1 : 0,
        done,
        success,
        valid: legal.includes(action as (typeof WORDS)[number]),
        info: {
          credit: {
            dense: correct ? 1 / matter.length : 0,
            answerProbability: (state.right + 0.5) / (matter.length + 1),
            calls: [{ name: action === '' ? 'nothing' : action, arguments: { page: state.turn } }],
            goldenCalls: golden,
            entityShare: right / matter.length,
          },
        },
      };
    },
    anchor: ({ turn, right }) => (tells ? `page ${turn} ${right}` : `page ${turn}`),
    actions: () => legal,
    solve: ({ turn }) => secretWord(turn, words),
  }) as unknown as Environment;
}
