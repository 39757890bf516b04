/** The smallest environments of one role and of two, in which whole runs go wrong. */

import { user } from '../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../src/env/environment.ts';
import { defineGame, type Game } from '../src/env/game.ts';

/** The word that was said is to be said twice, after a thought. */
export const echo: Environment<{ word: string }, { word: string; turn: number }> = defineEnvironment<
  { word: string },
  { word: string; turn: number }
>({
  name: 'echo',
  description: 'say the word that was said, twice',
  maxTurns: 3,
  tasks: () => ({ size: 2, at: (index) => ({ word: index === 0 ? 'red' : 'blue' }) }),
  start: ({ word }) => ({ state: { word, turn: 0 }, messages: [user(`say:${word}`)] }),
  step: ({ word, turn }, action) => {
    const right = action === word;
    const done = turn === 1;
    const observation = done ? '' : `say:${word}`;
    return {
      state: { word, turn: turn + 1 },
      observation,
      reward: right ? 0.5 : 0,
      done,
      success: right,
      valid: true,
      metrics: { right: right ? 1 : 0 },
    };
  },
  actions: () => ['red', 'blue'],
  solve: ({ word }) => word,
  correctThought: ({ word }) => `it is ${word}`,
});

/** The same word, said by two in turn. */
export const duet: Game<{ word: string }, { word: string; turn: number }> = defineGame<
  { word: string },
  { word: string; turn: number }
>({
  name: 'duet',
  description: 'two say the word that was said',
  roles: ['first', 'second'],
  maxTurns: 3,
  tasks: () => ({ size: 2, at: (index) => ({ word: index === 0 ? 'red' : 'blue' }) }),
  start: ({ word }) => ({ word, turn: 0 }),
  toMove: ({ turn }) => (turn < 4 ? ['first', 'second'][turn % 2] : undefined),
  observe: ({ word }) => [user(`say:${word}`)],
  anchor: ({ word, turn }) => `${word} ${turn}`,
  step: ({ word, turn }, role, action) => {
    const right = action === word;
    return {
      state: { word, turn: turn + 1 },
      rewards: { [role]: right ? 0.5 : 0 },
      done: turn === 3,
      valid: true,
      ...(turn === 3 && { success: { first: right, second: right } }),
    };
  },
  actions: () => ['red', 'blue'],
  solve: ({ word }) => word,
});
