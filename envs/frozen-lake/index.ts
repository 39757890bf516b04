/** Frozen lake: cross random ice to the goal without falling into a hole, seeing only the cells next to you. */

import { z } from 'zod';
import { TurnwiseError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json/json.ts';
import { hash32, Rng } from '../../src/core/rng.ts';
import { defineEnvironment, type Environment, type Split } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { distances, find, MOVES, move, moveValues, SIDES, type Side, sidesOf } from './lake.ts';
import { lakeSentences } from './wording.ts';

/** Rows of the map: `S` start, `G` goal, `O` hole, `.` ice. */
export type LakeTask = { readonly map: readonly string[] };
export type LakeState = { readonly map: readonly string[]; readonly row: number; readonly column: number };

export interface LakeOptions {
  readonly size: number;
  readonly holes: number;
  readonly slip: number;
  readonly maxTurns: number;
  readonly minimumPath: number;
}

const optionsSchema = z
  .strictObject({
    size: z.int().min(2).max(16).default(4).describe('Rows and columns of the map'),
    holes: z.number().min(0).max(0.5).default(0.2).describe('Probability that a cell is a hole'),
    slip: z.number().min(0).max(1).default(0).describe('Probability of sliding sideways, half to each side'),
    maxTurns: z.int().min(1).max(1000).default(12).describe('Moves before the episode ends'),
    minimumPath: z.int().min(1).default(3).describe('Fewest moves from start to goal'),
    wording: wordingOption,
  })
  .refine(({ size, minimumPath }) => minimumPath <= 2 * (size - 1), {
    path: ['minimumPath'],
    error: 'must be at most 2 × (size − 1), the distance between opposite corners',
  });

const MAX_DRAWS = 20_000;
const SPLITS: Readonly<Record<number, Split>> = { 0: 'test', 1: 'validation' };

/** The split that a map belongs to, by a hash of the map: no map is ever in two. */
export function splitOf(map: readonly string[]): Split {
  return SPLITS[hash32(map.join('/')) % 10] ?? 'train';
}

/** The environment. `tasks` are independent draws, so small maps repeat within a split, and never across splits. */
export function frozenLake(options: LakeOptions): Environment<LakeTask, LakeState> {
  return defineEnvironment<LakeTask, LakeState>({
    name: 'frozen-lake',
    description: 'Cross random ice to the goal without falling into a hole, seeing only the next cells.',
    maxTurns: options.maxTurns,
    returns: [0, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: (split) => ({ size: Number.POSITIVE_INFINITY, at: (index) => draw(options, split, index) }),
    start: ({ map }) => {
      const [row, column] = find(map, 'S');
      const state = { map, row, column };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: (state, action, rng) => {
      if (!isSide(action)) {
        const observation = `invalid ${observe(state)}`;
        return { state, observation, reward: 0, done: false, valid: false, info: progress(state, state) };
      }
      const { row, column } = move(state.map, state, slide(action, options.slip, rng));
      const next = { map: state.map, row, column };
      const cell = state.map[next.row]?.[next.column];
      const info = progress(state, next);
      if (cell === 'G')
        return { state: next, observation: 'goal', reward: 1, done: true, success: true, valid: true, info };
      if (cell === 'O') return { state: next, observation: 'hole', reward: 0, done: true, valid: true, info };
      return { state: next, observation: observe(next), reward: 0, done: false, valid: true, info };
    },
    anchor: ({ map, row, column }) => `${map.join('/')}@${row},${column}`,
    actions: () => SIDES,
    solve: (state, rng) => best(SIDES, moveValues(state.map, state, options.slip), rng),
    stumble: ({ map, row, column }, rng) => {
      const [goalRow, goalColumn] = find(map, 'G');
      const distance = (side: Side): number =>
        Math.abs(goalRow - row - MOVES[side][0]) + Math.abs(goalColumn - column - MOVES[side][1]);
      return best(
        SIDES,
        SIDES.map((side) => -distance(side)),
        rng,
      );
    },
    guidance: ({ map }, level) =>
      wayFrom(map)
        .slice(0, movesTold(level, wayFrom(map).length))
        .join(' ') || undefined,
    render: ({ map, row, column }) =>
      map
        .map((line, r) => (r === row ? `${line.slice(0, column)}@${line.slice(column + 1)}` : line))
        .join('\n'),
    natural: lakeSentences,
  });
}

/**
 * What credit may know of a move: the share of the way from start to goal by which it came nearer, over the ice, and
 * whether anything moved. A hole is the end of the way: −1.
 */
function progress(from: LakeState, to: LakeState): Json {
  const { left, way, cell } = lakeOf(from.map);
  const nearer = (left[cell(from)]! - left[cell(to)]!) / way;
  return {
    credit: {
      dense: Number.isFinite(nearer) ? nearer : -1,
      effectiveActions: cell(from) === cell(to) ? 0 : 1,
    },
  };
}

/** A shortest way from start to goal. */
function wayFrom(map: readonly string[]): readonly Side[] {
  const { left, cell } = lakeOf(map);
  const way: Side[] = [];
  let [row, column] = find(map, 'S');
  while (map[row]![column] !== 'G') {
    const side = SIDES.find((one) => {
      return left[cell(move(map, { row, column }, one))]! < left[cell({ row, column })]!;
    });
    if (side === undefined) break;
    ({ row, column } = move(map, { row, column }, side));
    way.push(side);
  }
  return way;
}

/** The first move, half of the way, all of it; nothing above. */
function movesTold(level: number, moves: number): number {
  return level === 1 ? 1 : level === 2 ? Math.ceil(moves / 2) : level === 3 ? moves : 0;
}

/** What is asked of a map at every step, and found once. */
interface Lake {
  readonly goal: readonly [row: number, column: number];
  /** Fewest moves to the goal, by cell number; `way` from the start. */
  readonly left: readonly number[];
  readonly way: number;
  cell(place: Pick<LakeState, 'row' | 'column'>): number;
  /** What the agent has read, by cell number. */
  readonly read: string[];
}

const lakes = new WeakMap<readonly string[], Lake>();

function lakeOf(map: readonly string[]): Lake {
  let lake = lakes.get(map);
  if (lake === undefined) {
    const goal = find(map, 'G');
    const left = distances(map, goal);
    const way = left[map.join('').indexOf('S')]!;
    lake = { goal, left, way, cell: ({ row, column }) => row * map.length + column, read: [] };
    lakes.set(map, lake);
  }
  return lake;
}

/** What the agent reads: how far the goal is, and what lies on each side. Six words that mean something alone. */
function observe(place: LakeState): string {
  const { goal, cell, read } = lakeOf(place.map);
  const known = read[cell(place)];
  if (known !== undefined) return known;
  const signed = (n: number): string => (n < 0 ? `${n}` : `+${n}`);
  const [rows, columns] = [goal[0] - place.row, goal[1] - place.column];
  const sides = sidesOf(place.map, place).map(([side, content]) => `${side}:${content}`);
  const said = [`rows${signed(rows)}`, `cols${signed(columns)}`, ...sides].join(' ');
  read[cell(place)] = said;
  return said;
}

/** Draws maps until one is solvable, long enough and of this split. */
function draw(options: LakeOptions, split: Split, index: number): LakeTask {
  const { size, holes, minimumPath } = options;
  const rng = Rng.of('frozen-lake', split, index);
  for (let attempt = 0; attempt < MAX_DRAWS; attempt++) {
    const start = rng.int(size * size);
    const goal = rng.int(size * size);
    const cells = Array.from({ length: size * size }, (_, cell) => {
      const hole = rng.chance(holes);
      return cell === start ? 'S' : cell === goal ? 'G' : hole ? 'O' : '.';
    });
    if (start === goal) continue;
    const map = Array.from({ length: size }, (_, row) => cells.slice(row * size, (row + 1) * size).join(''));
    // First what costs least: most maps are of another split.
    if (splitOf(map) !== split) continue;
    const length = distances(map, find(map, 'G'))[start]!;
    if (length >= minimumPath && length <= options.maxTurns) return { map };
  }
  throw new TurnwiseError('no-such-task', {
    what: 'No solvable map was found for these options of frozen-lake',
    seen: `${MAX_DRAWS} draws with ${JSON.stringify(options)}`,
    next: 'Lower holes or minimumPath, or raise size or maxTurns.',
  });
}

function isSide(action: string): action is Side {
  return (SIDES as readonly string[]).includes(action);
}

function slide(side: Side, slip: number, rng: Rng): Side {
  if (slip === 0 || !rng.chance(slip)) return side;
  return rng.pick(
    side === 'left' || side === 'right' ? (['up', 'down'] as const) : (['left', 'right'] as const),
  );
}

/** An item of highest value; ties are broken by chance. */
function best<T>(items: readonly T[], values: readonly number[], rng: Rng): T {
  const highest = Math.max(...values);
  return rng.pick(items.filter((_, i) => values[i]! > highest - 1e-6));
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'frozen-lake',
  description: 'Cross random ice to the goal without falling into a hole, seeing only the next cells.',
  options: optionsSchema,
  // Most maps are soon solved every time; the rest, which need a detour, are worth going back to.
  settings: { tasks: { name: 'revisit', share: 0.5 } },
  create: ({ wording, ...options }) => fromEnvironment(frozenLake(options), { wording }),
});
