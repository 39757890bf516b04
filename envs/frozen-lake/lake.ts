/** The geometry of a frozen lake and its exact solution, by breadth-first search and value iteration. */

export const MOVES = { left: [0, -1], right: [0, 1], up: [-1, 0], down: [1, 0] } as const;
export type Side = keyof typeof MOVES;
export const SIDES: readonly Side[] = ['left', 'right', 'up', 'down'];
const SIDEWAYS = {
  left: ['up', 'down'],
  right: ['up', 'down'],
  up: ['left', 'right'],
  down: ['left', 'right'],
} as const;

type LakeMap = readonly string[];
type Cell = { readonly row: number; readonly column: number };

/** The cell that `side` leads to; the edge of the map stops the move. */
export function move(map: LakeMap, { row, column }: Cell, side: Side): Cell {
  const next = { row: row + MOVES[side][0], column: column + MOVES[side][1] };
  return map[next.row]?.[next.column] === undefined ? { row, column } : next;
}

/** Row and column of the first cell with `mark`. */
export function find(map: LakeMap, mark: string): readonly [row: number, column: number] {
  const row = map.findIndex((line) => line.includes(mark));
  return [row, map[row]?.indexOf(mark) ?? -1];
}

/** What lies on each side of a cell. */
export function sidesOf(
  map: LakeMap,
  { row, column }: Cell,
): readonly (readonly [Side, 'edge' | 'hole' | 'goal' | 'free'])[] {
  return SIDES.map((side) => {
    const cell = map[row + MOVES[side][0]]?.[column + MOVES[side][1]];
    return [side, cell === undefined ? 'edge' : cell === 'O' ? 'hole' : cell === 'G' ? 'goal' : 'free'];
  });
}

/** The cell that each side of each cell leads to, by cell number. */
type Ways = Readonly<Record<Side, readonly number[]>>;
const waysBySize = new Map<number, Ways>();

function waysOf(map: LakeMap): Ways {
  const size = map.length;
  const made = waysBySize.get(size);
  if (made) return made;
  const ways = {} as Record<Side, number[]>;
  for (const side of SIDES) {
    ways[side] = Array.from({ length: size * size }, (_, cell) => {
      const next = move(map, { row: Math.floor(cell / size), column: cell % size }, side);
      return next.row * size + next.column;
    });
  }
  waysBySize.set(size, ways);
  return ways;
}

/** Fewest moves to `from` over ice, by cell number; Infinity where there is no way. Moves are reversible. */
export function distances(map: LakeMap, from: readonly [number, number]): number[] {
  const size = map.length;
  const marks = map.join('');
  const ways = waysOf(map);
  const distance = new Array<number>(size * size).fill(Number.POSITIVE_INFINITY);
  const start = from[0] * size + from[1];
  distance[start] = 0;
  const queue = [start];
  for (const cell of queue) {
    for (const side of SIDES) {
      const next = ways[side][cell]!;
      if (marks[next] === 'O' || distance[next] !== Number.POSITIVE_INFINITY) continue;
      distance[next] = distance[cell]! + 1;
      queue.push(next);
    }
  }
  return distance;
}

/** Stands for the turn limit, which a state does not know: nearer 1, the expert on slippery ice waits too long. */
const DISCOUNT = 0.95;
const known = new WeakMap<LakeMap, { slip: number; values: number[] }>();

/** Value of each move in `cell` when play is optimal afterwards and unlimited in time, in the order of `SIDES`. */
export function moveValues(map: LakeMap, { row, column }: Cell, slip: number): number[] {
  let solution = known.get(map);
  if (solution?.slip !== slip) {
    let values = initialValues(map);
    for (let change = 1; change > 1e-7; ) {
      const next = backup(map, values, slip, DISCOUNT);
      change = Math.max(...next.map((value, index) => Math.abs(value - values[index]!)));
      values = next;
    }
    solution = { slip, values };
    known.set(map, solution);
  }
  const { values } = solution;
  return SIDES.map((side) => moveValue(waysOf(map), values, row * map.length + column, side, slip));
}

/** The highest probability of reaching the goal within `maxTurns` moves, by value iteration over the whole map. */
export function optimalSuccess(
  task: { readonly map: LakeMap },
  { slip, maxTurns }: { readonly slip: number; readonly maxTurns: number },
): number {
  let values = initialValues(task.map);
  for (let turn = 0; turn < maxTurns; turn++) values = backup(task.map, values, slip, 1);
  return values[task.map.join('').indexOf('S')]!;
}

function initialValues(map: LakeMap): number[] {
  return [...map.join('')].map((cell) => (cell === 'G' ? 1 : 0));
}

function backup(map: LakeMap, values: readonly number[], slip: number, discount: number): number[] {
  const ways = waysOf(map);
  const marks = map.join('');
  return values.map((value, cell) => {
    if (marks[cell] === 'G' || marks[cell] === 'O') return value;
    let highest = Number.NEGATIVE_INFINITY;
    for (const side of SIDES) highest = Math.max(highest, moveValue(ways, values, cell, side, slip));
    return discount * highest;
  });
}

function moveValue(ways: Ways, values: readonly number[], cell: number, side: Side, slip: number): number {
  const valueAfter = (taken: Side): number => values[ways[taken][cell]!]!;
  const [one, other] = SIDEWAYS[side];
  return (1 - slip) * valueAfter(side) + (slip / 2) * (valueAfter(one) + valueAfter(other));
}
