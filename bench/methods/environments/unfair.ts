/** An unfair game: one role starts with a gain and the other with a loss, whatever they do; a right word adds a little. */

import { user } from '../../../src/core/messages.ts';
import { defineGame, type Game } from '../../../src/env/game.ts';
import { secretWord, WORDS } from './words.ts';

const ROLES = ['rich', 'poor'] as const;
const PLACE: Readonly<Record<string, number>> = { rich: 0, poor: 3 };

interface State {
  readonly turn: number;
  readonly right: number;
  readonly [key: string]: number;
}

export function unfairGame({ words = 4, gap = 2, gain = 0.5 } = {}): Game {
  const legal = WORDS.slice(0, words);
  return defineGame<Record<string, never>, State>({
    name: 'unfair',
    description: 'one role gains and the other loses, whatever they do',
    roles: ROLES,
    maxTurns: 1,
    tasks: () => ({ size: 8, at: () => ({}) }),
    start: () => ({ turn: 0, right: 0 }),
    toMove: ({ turn }) => ROLES[turn],
    observe: (_state, role) => [user(`you:${role}`)],
    step: ({ turn, right }, role, action) => {
      const correct = action === secretWord(PLACE[role]!, words);
      const base = role === 'rich' ? gap / 2 : -gap / 2;
      const rights = right + (correct ? 1 : 0);
      return {
        state: { turn: turn + 1, right: rights },
        rewards: { [role]: base + (correct ? gain : 0) },
        done: turn === 1,
        success: { rich: rights === 2, poor: rights === 2 },
        valid: legal.includes(action as (typeof WORDS)[number]),
      };
    },
    anchor: (_state, role) => role,
    actions: () => legal,
    solve: (_state, role) => secretWord(PLACE[role]!, words),
  }) as unknown as Game;
}
