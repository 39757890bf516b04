/** Maze: LMRL-Gym's "double T maze" (arXiv 2311.18232), fully or partially observed, with its layout, moves and rewards. */

import { z } from 'zod';
import type { Json } from '../../src/core/json/json.ts';
import { Rng } from '../../src/core/rng.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { cellAt, LAYOUT, neighbour, SIDES, type Side, sidesOf } from './layout.ts';
import { mazeSentences } from './wording.ts';

export type MazeTask = { readonly row: number; readonly column: number };
export type MazeState = MazeTask & { readonly turn: number };

export interface MazeOptions {
  readonly observed: 'fully' | 'partially';
  readonly maxTurns: number;
  readonly heldOutStarts: number;
}

/** The 25 free cells other than the goal, in reading order. */
export const STARTS: readonly MazeTask[] = LAYOUT.flatMap((line, row) =>
  [...line].flatMap((cell, column) => (cell === '.' ? [{ row, column }] : [])),
);

const optionsSchema = z.strictObject({
  observed: z
    .enum(['fully', 'partially'])
    .default('fully')
    .describe('partially: only the walls around are told, neither the cell nor the goal'),
  maxTurns: z
    .int()
    .min(1)
    .max(1000)
    .default(40)
    .describe('Moves before the episode fails; 100 in LMRL-Gym, fewer make sampling cheaper'),
  heldOutStarts: z
    .int()
    .min(0)
    .max(24)
    .default(0)
    .describe('Start cells kept from training; the test split is then exactly these'),
  wording: wordingOption,
});

/**
 * The environment. Arriving at the goal pays 0, a word that is no move −4 and stays, every other move −1, also into a
 * wall. The move after the last allowed one is not made: it pays −1 and ends the episode, as in the original.
 */
export function maze(options: MazeOptions): Environment<MazeTask, MazeState> {
  const isFull = options.observed === 'fully';
  const observe = isFull ? wholeCell : wallsOf;
  const shuffled = Rng.of('maze', 'held-out').shuffle(STARTS);
  const heldOut = shuffled.slice(0, options.heldOutStarts);
  const training = STARTS.filter((start) => !heldOut.includes(start));
  return defineEnvironment<MazeTask, MazeState>({
    name: 'maze',
    description: "LMRL-Gym's maze: reach the goal in as few moves as possible.",
    maxTurns: options.maxTurns + 1,
    facts: ['dense', 'effectiveActions'],
    tasks: (split) => {
      const starts = split === 'train' ? training : heldOut.length > 0 ? heldOut : STARTS;
      return { size: starts.length, at: (index) => starts[index % starts.length]! };
    },
    start: (task) => ({
      state: { ...task, turn: 0 },
      messages: [{ role: 'user', content: observe(task) }],
    }),
    step: (state, action) => {
      const side = readMove(action);
      if (state.turn >= options.maxTurns) {
        return {
          state,
          observation: 'failure',
          reward: -1,
          done: true,
          valid: side !== undefined,
          info: progress(state, state),
        };
      }
      const stay = { ...state, turn: state.turn + 1 };
      if (side === undefined) {
        return {
          state: stay,
          observation: `invalid ${observe(state)}`,
          reward: -4,
          done: false,
          valid: false,
          info: progress(state, stay),
        };
      }
      const target = neighbour(state, side);
      const next = cellAt(target) === '#' ? stay : { ...stay, ...target };
      const info = progress(state, next);
      if (cellAt(next) === 'G') {
        return {
          state: next,
          observation: 'success',
          reward: 0,
          done: true,
          success: true,
          valid: true,
          info,
        };
      }
      return { state: next, observation: observe(next), reward: -1, done: false, valid: true, info };
    },
    anchor: ({ row, column }) => `${row},${column}`,
    actions: () => SIDES,
    solve: (state, rng) => {
      const distance = (side: Side): number => DISTANCES.get(key(neighbour(state, side))) ?? Infinity;
      const nearest = Math.min(...SIDES.map(distance));
      return rng.pick(SIDES.filter((side) => distance(side) === nearest));
    },
    stumble: (_, rng) => rng.pick(SIDES),
    render: ({ row, column }) =>
      LAYOUT.map((line, r) => (r === row ? `${line.slice(0, column)}@${line.slice(column + 1)}` : line)).join(
        '\n',
      ),
    natural: mazeSentences(isFull),
  });
}

/** What credit may know of a move: by how many cells the goal came nearer, and whether anything moved. */
function progress(from: MazeTask, to: MazeTask): Json {
  const nearer = DISTANCES.get(key(from))! - DISTANCES.get(key(to))!;
  return { credit: { dense: nearer, effectiveActions: key(from) === key(to) ? 0 : 1 } };
}

/** Where the agent is and what lies on each side. Six words that mean something alone. */
function wholeCell(cell: MazeTask): string {
  const sides = sidesOf(cell).map(([side, content]) => `${side}:${content}`);
  return [`row${cell.row}`, `column${cell.column}`, ...sides].join(' ');
}

/** The walls alone: cells that look alike are told apart by what came before. */
function wallsOf(cell: MazeTask): string {
  return sidesOf(cell)
    .map(([side, content]) => `${side}:${content === 'wall' ? 'wall' : 'free'}`)
    .join(' ');
}

/** `left` or, as in LMRL-Gym, `move left`. */
function readMove(action: string): Side | undefined {
  const word = action.startsWith('move ') ? action.slice('move '.length) : action;
  return SIDES.find((side) => side === word);
}

function key({ row, column }: MazeTask): string {
  return `${row},${column}`;
}

/** Fewest moves to the goal, by breadth-first search. */
const DISTANCES: ReadonlyMap<string, number> = (() => {
  const row = LAYOUT.findIndex((line) => line.includes('G'));
  const goal = { row, column: LAYOUT[row]!.indexOf('G') };
  const distances = new Map([[key(goal), 0]]);
  const queue = [goal];
  for (const cell of queue) {
    for (const side of SIDES) {
      const next = neighbour(cell, side);
      if (cellAt(next) === '#' || distances.has(key(next))) continue;
      distances.set(key(next), distances.get(key(cell))! + 1);
      queue.push(next);
    }
  }
  return distances;
})();

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'maze',
  description: "LMRL-Gym's maze: reach the goal in as few moves as possible.",
  options: optionsSchema,
  settings: {
    steps: 40,
    clone: { demonstrations: 300, beginnerShare: 0.6, randomRate: 0.3, steps: 60, batch: 16 },
    rollout: { tasks: 16, group: 8 },
    optimizer: { learningRate: 1e-3 },
  },
  create: ({ wording, ...options }) => fromEnvironment(maze(options), { wording }),
});
