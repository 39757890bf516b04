/**
 * Two roles that work together: one answers a question that it cannot know, the other sees the truth and gives a word of
 * feedback, and the first answers again. Only answers are paid for by the environment.
 */

import { user } from '../../../src/core/messages.ts';
import { fromGame } from '../../../src/env/from-game.ts';
import { defineGame, type Game } from '../../../src/env/game.ts';
import type { World } from '../../../src/env/world.ts';
import { WORDS } from './words.ts';

const ROLES = ['conversation', 'feedback'] as const;

interface State {
  readonly truth: string;
  readonly answer: string;
  readonly hint: string;
  readonly turn: number;
  readonly [key: string]: string | number;
}

export function duet(): World {
  return fromGame(duetGame());
}

export function duetGame({ words = 3 } = {}): Game {
  const legal = WORDS.slice(0, words);
  return defineGame<{ truth: string }, State>({
    name: 'duet',
    description: 'an answer, a word of feedback, and another answer',
    roles: ROLES,
    maxTurns: 2,
    facts: ['labelCorrect'],
    tasks: () => ({ size: words, at: (index) => ({ truth: legal[index % words]! }) }),
    start: ({ truth }) => ({ truth, answer: '', hint: '', turn: 0 }),
    toMove: ({ turn }) => (turn === 3 ? undefined : ROLES[turn % 2]),
    observe: ({ truth, answer, hint, turn }, role) => {
      if (role === 'feedback') return [user(`truth:${truth} said:${answer || 'nothing'}`)];
      return [user(turn === 0 ? 'question' : `hint:${hint || 'nothing'}`)];
    },
    step: (state, role, action) => {
      const turn = state.turn + 1;
      const word = legal.includes(action as (typeof WORDS)[number]) ? action : '';
      const right = word === state.truth;
      const next = role === 'feedback' ? { ...state, hint: word, turn } : { ...state, answer: word, turn };
      return {
        state: next,
        rewards: role === 'feedback' ? {} : { conversation: right ? 1 : 0 },
        done: turn === 3,
        success: { conversation: right, feedback: right },
        valid: word !== '',
        // Feedback that names the truth labels the answer rightly.
        ...(role === 'feedback' && { info: { credit: { labelCorrect: right } } }),
      };
    },
    anchor: ({ truth, answer, hint, turn }, role) =>
      role === 'feedback' ? `${truth} ${answer}` : `${turn} ${hint}`,
    actions: () => legal,
    solve: ({ truth, hint, turn }, role, rng) =>
      role === 'feedback' ? truth : turn === 0 ? rng.pick(legal) : hint || legal[0]!,
  }) as unknown as Game;
}
