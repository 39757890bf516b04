/** TicTacToe: two roles, nothing hidden, small enough that every position is known. */

import { z } from 'zod';
import { user } from '../../src/core/messages.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromGame } from '../../src/env/from-game.ts';
import { defineGame, type Game, type GameStep } from '../../src/env/game.ts';
import { gameSentences, wordingOption } from '../../src/env/wording.ts';
import { LINES, values } from './values.ts';

/** Cells in the order in which they were taken; the first role took the first, also where chance chose it. */
export type TicTacToeState = {
  readonly taken: readonly number[];
  /** How many of them chance took before play began. */
  readonly opening: number;
  /** The role that wrote something illegal, which ended the game. */
  readonly forfeit?: string;
};

const ROLES = ['first', 'second'] as const;
const CELLS = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
const MARKS = ['o', 'x'] as const;

const options = z.strictObject({
  opening: z
    .int()
    .min(0)
    .max(4)
    .default(2)
    .describe('Marks that are set by chance, as tasks to split; 0: the plain game'),
  wording: wordingOption,
});

/** The game. Winning pays 1 and costs the other role 1, a draw 0; an illegal action loses. */
export function ticTacToeGame(opening: number): Game<readonly number[], TicTacToeState> {
  return defineGame<readonly number[], TicTacToeState>({
    name: 'tictactoe',
    description: 'TicTacToe: three in a row on nine cells, for two roles.',
    roles: ROLES,
    maxTurns: 5,
    returns: [-1, 1],
    tasks: openings(opening),
    start: (taken) => ({ taken, opening }),
    toMove: mover,
    observe: (state, role) => [user(observe(state, role))],
    natural: gameSentences({
      rules: RULES,
      example: EXAMPLE,
      isFirstTurn: (state) => state.taken.length - state.opening < 2,
      toMove: mover,
      observe: describe,
    }),
    step,
    anchor: (state, role) => observe(state, role),
    actions: (state) => (mover(state) ? free(state).map(String) : []),
    solve: (state, role, rng) => rng.pick(best(state, role)),
    stumble: (state, role, rng) => {
      // Takes a row and sees no row of the other's.
      const wins = free(state).filter((cell) => winner([...state.taken, cell]) === role);
      return String(rng.pick(wins.length > 0 ? wins : free(state)));
    },
    render: ({ taken }) =>
      [0, 3, 6].map((row) => [0, 1, 2].map((column) => markAt(taken, row + column)).join(' ')).join('\n'),
  });
}

/** Every sequence of `count` cells that ends nothing. */
function openings(count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  return openings(count - 1).flatMap((taken) =>
    CELLS.filter((cell) => !taken.includes(cell)).map((cell) => [...taken, cell]),
  );
}

/** The role with three in a row. */
function winner(taken: readonly number[]): string | undefined {
  let won = winners.get(taken);
  if (won === undefined) {
    const last = (taken.length - 1) % 2;
    const own = CELLS.map((cell) => {
      const turn = taken.indexOf(cell);
      return turn >= 0 && turn % 2 === last;
    });
    won = LINES.some(([a, b, c]) => own[a!] && own[b!] && own[c!]) ? ROLES[last]! : '';
    winners.set(taken, won);
  }
  return won || undefined;
}

/** It is asked of the same cells again and again; empty: nobody. */
const winners = new WeakMap<readonly number[], string>();

function mover({ taken, forfeit }: TicTacToeState): string | undefined {
  const isOver = forfeit !== undefined || taken.length === 9 || winner(taken) !== undefined;
  return isOver ? undefined : ROLES[taken.length % 2];
}

function free({ taken }: TicTacToeState): readonly number[] {
  return CELLS.filter((cell) => !taken.includes(cell));
}

function step(state: TicTacToeState, role: string, action: string): GameStep<TicTacToeState> {
  const cell = free(state).find((known) => String(known) === action);
  const next: TicTacToeState =
    cell === undefined ? { ...state, forfeit: role } : { ...state, taken: [...state.taken, cell] };
  const won = wonBy(next);
  return {
    state: next,
    rewards: { first: won, second: 0 - won },
    done: mover(next) === undefined,
    success: { first: won > 0, second: won < 0 },
    valid: cell !== undefined,
  };
}

/** What the first role has won: 1, 0 or -1. */
function wonBy({ taken, forfeit }: TicTacToeState): number {
  if (forfeit !== undefined) return forfeit === 'first' ? -1 : 1;
  const by = winner(taken);
  return by === undefined ? 0 : by === 'first' ? 1 : -1;
}

/** The cells after which the role keeps the value of its position. */
function best(state: TicTacToeState, role: string): readonly string[] {
  const sign = role === 'first' ? 1 : -1;
  const worth = free(state).map((cell) => sign * values([...state.taken, cell]));
  return free(state)
    .filter((_, index) => worth[index] === Math.max(...worth))
    .map(String);
}

/** Nine words, each of which means something alone; at the end one. */
function observe(state: TicTacToeState, role: string): string {
  const over = ending(state, role);
  if (over !== undefined) return over;
  const own = ROLES.indexOf(role as 'first');
  return CELLS.map((cell) => {
    const turn = state.taken.indexOf(cell);
    return `${cell}:${turn < 0 ? 'free' : turn % 2 === own ? 'me' : 'foe'}`;
  }).join(' ');
}

function ending(state: TicTacToeState, role: string): string | undefined {
  if (mover(state) !== undefined) return undefined;
  if (state.forfeit !== undefined) return state.forfeit === role ? 'illegal lost' : 'opponent-illegal won';
  const by = winner(state.taken);
  return by === undefined ? 'drawn' : by === role ? 'won' : 'lost';
}

function markAt(taken: readonly number[], cell: number): string {
  const turn = taken.indexOf(cell);
  return turn < 0 ? String(cell) : MARKS[turn % 2]!;
}

const RULES = [
  'You play TicTacToe on nine cells, numbered 0 to 8 from left to right and from top to bottom. Whoever first has three',
  'marks in a row, a column or a diagonal wins. Answer with the number of a free cell and nothing else. Any other answer loses.',
].join(' ');
const EXAMPLE = [
  ['You are o. The board is o x x / 3 o 5 / 6 7 8.', '8'],
  ['You are x. The board is x 1 o / 3 o 5 / 6 7 8.', '6'],
] as const;

function describe(state: TicTacToeState, role: string): string {
  const over = ending(state, role);
  if (over !== undefined) return SAID[over]!;
  const rows = [0, 3, 6].map((row) => [0, 1, 2].map((column) => markAt(state.taken, row + column)).join(' '));
  return `You are ${MARKS[ROLES.indexOf(role as 'first')]}. The board is ${rows.join(' / ')}.`;
}

const SAID: Readonly<Record<string, string>> = {
  won: 'You have won.',
  lost: 'You have lost.',
  drawn: 'The game is drawn.',
  'illegal lost': 'That was no free cell. You have lost.',
  'opponent-illegal won': 'The other player did nothing legal. You have won.',
};

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'tictactoe',
  description: 'TicTacToe: three in a row on nine cells, for two roles.',
  options,
  settings: {
    steps: 200,
    model: { width: 64, layers: 2, hidden: 172 },
    clone: { demonstrations: 1000, randomRate: 0.7, steps: 200 },
    rollout: { tasks: 32, group: 8 },
    objective: { entropyCoefficient: 0.02 },
    optimizer: { learningRate: 1e-3 },
  },
  create: ({ opening, wording }) => fromGame(ticTacToeGame(opening), { wording }),
});
