/** Connect Four: two roles, nothing hidden; boards up to 25 cells are solved. */

import { z } from 'zod';
import { user } from '../../src/core/messages.ts';
import { Rng } from '../../src/core/rng.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromGame } from '../../src/env/from-game.ts';
import { defineGame, type Game, type GameStep } from '../../src/env/game.ts';
import { gameSentences, wordingOption } from '../../src/env/wording.ts';
import { Board, type Size, worths } from './board.ts';

export type ConnectFourState = {
  /** Columns in the order in which stones were dropped, those of chance first. */
  readonly moves: readonly number[];
  readonly forfeit?: string;
};

const ROLES = ['first', 'second'] as const;
const MARKS = ['.', 'X', 'O'] as const;
/** Words of stones by column and row, such as `2b:foe`. */
const wordsOf = (whose: string): readonly (readonly string[])[] =>
  Array.from({ length: 9 }, (_, column) => Array.from('abcdefghi', (row) => `${column + 1}${row}:${whose}`));
const [OWN, OTHERS] = [wordsOf('me'), wordsOf('foe')];

const options = z.strictObject({
  columns: z.int().min(4).max(9).default(5).describe('Columns of the board; 7 in the shops'),
  rows: z.int().min(4).max(9).default(4).describe('Rows of the board; 6 in the shops'),
  opening: z
    .int()
    .min(0)
    .max(6)
    .default(4)
    .describe('Stones that are dropped by chance, as tasks to split; 0: the plain game'),
  wording: wordingOption,
});

interface Position {
  readonly board: Board;
  /** Columns that are not full. */
  readonly open: readonly number[];
  readonly isWon: boolean;
}

/** The game. Winning pays 1 and costs the other role 1, a draw 0; an illegal action loses. */
export function connectFourGame(size: Size, opening: number): Game<readonly number[], ConnectFourState> {
  const cells = size.columns * size.rows;
  const positions = new WeakMap<readonly number[], Position>();
  const names = Array.from({ length: size.columns }, (_, column) => String(column + 1));

  /** What is asked of the same moves again and again. */
  function positionOf(moves: readonly number[]): Position {
    let position = positions.get(moves);
    if (position === undefined) {
      const board = new Board(size, moves);
      position = { board, open: board.open(), isWon: moves.length > 0 && board.isFour(moves.at(-1)!) };
      positions.set(moves, position);
    }
    return position;
  }

  const isWon = (moves: readonly number[]): boolean => positionOf(moves).isWon;

  function mover({ moves, forfeit }: ConnectFourState): string | undefined {
    const isOver = forfeit !== undefined || moves.length === cells || isWon(moves);
    return isOver ? undefined : ROLES[moves.length % 2];
  }

  function legal(state: ConnectFourState): readonly string[] {
    return mover(state) ? positionOf(state.moves).open.map((column) => names[column]!) : [];
  }

  function step(state: ConnectFourState, role: string, action: string): GameStep<ConnectFourState> {
    const column = names.indexOf(action);
    const valid = mover(state) !== undefined && positionOf(state.moves).open.includes(column);
    const next: ConnectFourState = valid ? { moves: [...state.moves, column] } : { ...state, forfeit: role };
    const won = wonByFirst(next);
    return {
      state: next,
      rewards: { first: won, second: 0 - won },
      done: mover(next) === undefined,
      success: { first: won > 0, second: won < 0 },
      valid,
    };
  }

  function wonByFirst({ moves, forfeit }: ConnectFourState): number {
    if (forfeit !== undefined) return forfeit === 'first' ? -1 : 1;
    if (!isWon(moves)) return 0;
    return moves.length % 2 === 1 ? 1 : -1;
  }

  function ending(state: ConnectFourState, role: string): keyof typeof SAID | undefined {
    if (mover(state) !== undefined) return undefined;
    if (state.forfeit !== undefined) return state.forfeit === role ? 'illegal lost' : 'opponent-illegal won';
    const won = wonByFirst(state);
    return won === 0 ? 'drawn' : won > 0 === (role === 'first') ? 'won' : 'lost';
  }

  /** A word for each stone, column by column from below, such as `2b:foe`. */
  function observe(state: ConnectFourState, role: string): string {
    const over = ending(state, role);
    if (over !== undefined) return over;
    const { board } = positionOf(state.moves);
    const own = 1 + ROLES.indexOf(role as 'first');
    const stones: string[] = [];
    for (let column = 0; column < size.columns; column++) {
      for (let row = 0; row < size.rows; row++) {
        const stone = board.at(column, row);
        if (stone === 0) break;
        stones.push((stone === own ? OWN : OTHERS)[column]![row]!);
      }
    }
    return stones.join(' ') || 'empty';
  }

  function picture({ moves }: ConnectFourState): string {
    const { board } = positionOf(moves);
    const lines = Array.from({ length: size.rows }, (_, fromTop) =>
      names.map((_, column) => MARKS[board.at(column, size.rows - 1 - fromTop)]).join(' '),
    );
    return [names.join(' '), ...lines].join('\n');
  }

  return defineGame<readonly number[], ConnectFourState>({
    name: 'connect-four',
    description: 'Connect Four: four stones in a row on a small board, for two roles.',
    roles: ROLES,
    maxTurns: Math.ceil(cells / 2),
    returns: [-1, 1],
    tasks: opening === 0 ? [[]] : openings(size, opening),
    start: (moves) => ({ moves }),
    toMove: mover,
    observe: (state, role) => [user(observe(state, role))],
    natural: gameSentences({
      rules: [
        `You play Connect Four on a board of ${size.columns} columns and ${size.rows} rows. A stone falls to the lowest free place of its column. Whoever first`,
        'has four stones in a row, upright, level or slanting, wins. Answer with the number of a column that is not full and',
        'nothing else. Any other answer loses.',
      ].join(' '),
      example: [[`You are X.\n${picture({ moves: [1, 2, 1, 2, 1, 2] })}`, '2']],
      isFirstTurn: ({ moves }) => moves.length - opening < 2,
      toMove: mover,
      observe: (state, role) => {
        const over = ending(state, role);
        return over === undefined
          ? `You are ${MARKS[1 + ROLES.indexOf(role as 'first')]}.\n${picture(state)}`
          : SAID[over];
      },
    }),
    step,
    anchor: observe,
    actions: legal,
    solve: (state, _, rng) => names[rng.pick(best(size, state.moves))]!,
    stumble: (state, _, rng) => {
      // Sees its own four, and no four of the other's.
      const four = legal(state).filter((name) => isWon([...state.moves, names.indexOf(name)]));
      return rng.pick(four.length > 0 ? four : legal(state));
    },
    render: picture,
  });
}

function best(size: Size, moves: readonly number[]): readonly number[] {
  const worth = worths(size, moves);
  const most = Math.max(...worth.values());
  return [...worth].filter(([, value]) => value === most).map(([column]) => column);
}

/** Sequences of `count` stones that ended nothing: all of a short opening, many of a long one. */
function openings(size: Size, count: number): readonly (readonly number[])[] {
  const rng = Rng.of('connect-four', size.columns, size.rows, count);
  const drawn = Array.from({ length: OPENINGS }, () => {
    const moves: number[] = [];
    while (moves.length < count) moves.push(rng.pick(new Board(size, moves).open()));
    return moves;
  });
  const playable = drawn.filter(
    (moves) =>
      !moves.some((column, turn) => {
        const board = new Board(size, moves.slice(0, turn + 1));
        return board.isFour(column);
      }),
  );
  return [...new Map(playable.map((moves) => [moves.join(), moves])).values()];
}

const OPENINGS = 400;

const SAID = {
  won: 'You have won.',
  lost: 'You have lost.',
  drawn: 'The game is drawn.',
  'illegal lost': 'That was no open column. You have lost.',
  'opponent-illegal won': 'The other player did nothing legal. You have won.',
} as const;

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'connect-four',
  description: 'Connect Four: four stones in a row on a small board, for two roles.',
  options,
  settings: {
    steps: 200,
    model: { width: 64, layers: 2, hidden: 172 },
    clone: { demonstrations: 1000, randomRate: 0.7, steps: 200 },
    rollout: { tasks: 32, group: 8 },
    objective: { entropyCoefficient: 0.02 },
    optimizer: { learningRate: 1e-3 },
  },
  create: ({ columns, rows, opening, wording }) =>
    fromGame(connectFourGame({ columns, rows }, opening), { wording }),
});
