/** Sokoban: push boxes to targets, and never pull. Rewards of gym-sokoban, rooms of our own generator, each proven solvable. */

import { z } from 'zod';
import type { Rng } from '../../src/core/rng.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import {
  besides,
  drawRoom,
  isSolved,
  movesLeft,
  onTarget,
  type Plan,
  push,
  type Room,
  readRoom,
  SIDES,
  type Side,
} from './room.ts';
import { sokobanSentences } from './wording.ts';

export type SokobanTask = { readonly room: Room };
/** `way` is the fewest moves from the start. */
export type SokobanState = SokobanTask & { readonly way: number };

export interface SokobanOptions {
  readonly size: number;
  readonly boxes: number;
  readonly walls: number;
  readonly minimumMoves: number;
  readonly maximumMoves: number;
  readonly maxTurns: number;
}

const optionsSchema = z
  .strictObject({
    size: z
      .int()
      .min(4)
      .max(10)
      .default(6)
      .describe('Rows and columns of the room, walls around it included'),
    boxes: z.int().min(1).max(2).default(1).describe('Boxes, and as many targets'),
    walls: z.number().min(0).max(0.5).default(0.15).describe('Probability that a cell inside is a wall'),
    minimumMoves: z.int().min(1).default(3).describe('Fewest moves of the shortest solution'),
    maximumMoves: z.int().min(1).default(12).describe('Most moves of the shortest solution'),
    maxTurns: z
      .int()
      .min(1)
      .max(1000)
      .default(20)
      .describe('Moves before the episode ends; 100 in gym-sokoban'),
    wording: wordingOption,
  })
  .refine(
    ({ minimumMoves, maximumMoves, maxTurns }) => minimumMoves <= maximumMoves && maximumMoves <= maxTurns,
    {
      path: ['maximumMoves'],
      error: 'must be at least minimumMoves and at most maxTurns',
    },
  );

const STEP = -0.1;
const SOLVED = 10;

/** The environment. A move costs 0.1, a box pays 1 on a target and costs 1 off it, and all boxes on targets pay 10. */
export function sokoban(options: SokobanOptions): Environment<SokobanTask, SokobanState> {
  return defineEnvironment<SokobanTask, SokobanState>({
    name: 'sokoban',
    description: 'Push boxes to their targets in a room with walls.',
    maxTurns: options.maxTurns,
    facts: ['dense', 'effectiveActions'],
    tasks: drawnTasks(
      'sokoban',
      (rng) => draw(options, rng),
      ({ room }) => {
        const moves = movesLeft(readRoom(room)) ?? 0;
        return moves >= options.minimumMoves && moves <= options.maximumMoves;
      },
    ),
    start: ({ room }) => {
      const state = { room, way: movesLeft(readRoom(room)) ?? 1 };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: (before, action) => {
      const side = SIDES.find((name) => name === action);
      const from = readRoom(before.room);
      const to = side ? push(from, side) : from;
      const state = { ...before, room: drawRoom(to) };
      const done = isSolved(to);
      return {
        state,
        observation: done ? 'solved' : side ? observe(state) : `invalid ${observe(state)}`,
        reward: STEP + onTarget(to) - onTarget(from) + (done ? SOLVED : 0),
        done,
        success: done,
        valid: side !== undefined,
        info: { credit: { dense: nearer(from, to, before.way), effectiveActions: to === from ? 0 : 1 } },
      };
    },
    anchor: ({ room }) => room.join('/'),
    actions: () => SIDES,
    solve: ({ room }, rng) => best(readRoom(room), rng),
    // It pushes without looking ahead: half of the time as chance has it.
    stumble: ({ room }, rng) => (rng.chance(0.5) ? rng.pick(SIDES) : best(readRoom(room), rng)),
    render: ({ room }) => room.join('\n'),
    natural: sokobanSentences,
  });
}

/** A move after which the fewest are left; any where none helps. */
function best(plan: Plan, rng: Rng): Side {
  const left = SIDES.map((side) => movesLeft(push(plan, side)) ?? Number.POSITIVE_INFINITY);
  return rng.pick(SIDES.filter((_, side) => left[side] === Math.min(...left)));
}

/** The share of the fewest moves by which a move came nearer; −1 for one after which nothing helps any more. */
function nearer(from: Plan, to: Plan, way: number): number {
  const [before, after] = [from, to].map((plan) => movesLeft(plan));
  if (before === undefined) return 0;
  return after === undefined ? -1 : (before - after) / way;
}

/** Where each box is, seen from the player; where the nearest target is, seen from it; and what is on each side. */
function observe({ room }: SokobanState): string {
  const plan = readRoom(room);
  const row = (cell: number): number => Math.floor(cell / plan.width);
  const column = (cell: number): number => cell % plan.width;
  const signed = (n: number): string => (n < 0 ? `${n}` : `+${n}`);
  const away = (name: string, from: number, to: number): string =>
    `${name}rows${signed(row(to) - row(from))} ${name}cols${signed(column(to) - column(from))}`;
  const steps = (a: number, b: number): number => Math.abs(row(a) - row(b)) + Math.abs(column(a) - column(b));
  const boxes = plan.boxes.flatMap((box) => {
    const target = [...plan.targets].sort((a, b) => steps(box, a) - steps(box, b))[0]!;
    return [away('box', plan.player, box), away('goal', box, target)];
  });
  return [...boxes, ...SIDES.map((side) => `${side}:${besides(plan, side)}`)].join(' ');
}

const ascending = (a: number, b: number): number => a - b;

/** A room of random walls, boxes and targets; whether it can be solved is asked later. */
function draw({ size, boxes, walls }: SokobanOptions, rng: Rng): SokobanTask | undefined {
  const inside = Array.from({ length: size * size }, (_, cell) => cell).filter((cell) =>
    [Math.floor(cell / size), cell % size].every((place) => place > 0 && place < size - 1),
  );
  const floor = rng.shuffle(inside.filter(() => !rng.chance(walls)));
  if (floor.length < 2 * boxes + 1) return undefined;
  return {
    room: drawRoom({
      width: size,
      walls: Array.from({ length: size * size }, (_, cell) => !floor.includes(cell)),
      targets: floor.slice(0, boxes).sort(ascending),
      boxes: floor.slice(boxes, 2 * boxes).sort(ascending),
      player: floor[2 * boxes]!,
    }),
  };
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'sokoban',
  description: 'Push boxes to their targets in a room with walls.',
  options: optionsSchema,
  settings: {
    steps: 50,
    clone: { beginnerShare: 0.5, randomRate: 0.1, steps: 100 },
    rollout: { tasks: 24, group: 8 },
    optimizer: { learningRate: 1e-3 },
  },
  create: ({ wording, ...options }) => fromEnvironment(sokoban(options), { wording }),
});
