/** The town of Gymnasium's Taxi-v3: cells, walls, four stations, and shortest ways. */

export type Cell = { readonly row: number; readonly column: number };

export const SIZE = 5;
export const STATIONS = [
  { name: 'red', row: 0, column: 0 },
  { name: 'green', row: 0, column: 4 },
  { name: 'yellow', row: 4, column: 0 },
  { name: 'blue', row: 4, column: 3 },
] as const;

const MOVES = { north: [-1, 0], south: [1, 0], east: [0, 1], west: [0, -1] } as const;
export type Side = keyof typeof MOVES;
export const SIDES: readonly Side[] = ['north', 'south', 'east', 'west'];

/** Cells with a wall at their east side, as `row column`. */
const WALLED = new Set(['0 1', '1 1', '3 0', '4 0', '3 2', '4 2']);

/** Where a move leads; walls and the edge of the town stop it. */
export function drive({ row, column }: Cell, side: Side): Cell {
  return neighbours[side][row * SIZE + column]!;
}

function neighbourOf({ row, column }: Cell, side: Side): Cell {
  const next = { row: row + MOVES[side][0], column: column + MOVES[side][1] };
  const inTown = [next.row, next.column].every((place) => place >= 0 && place < SIZE);
  const walled = side === 'east' || side === 'west';
  return inTown && !(walled && WALLED.has(`${row} ${Math.min(column, next.column)}`))
    ? next
    : { row, column };
}

const CELLS: readonly Cell[] = Array.from({ length: SIZE * SIZE }, (_, cell) => ({
  row: Math.floor(cell / SIZE),
  column: cell % SIZE,
}));
const neighbours: Readonly<Record<Side, readonly Cell[]>> = {
  north: CELLS.map((cell) => neighbourOf(cell, 'north')),
  south: CELLS.map((cell) => neighbourOf(cell, 'south')),
  east: CELLS.map((cell) => neighbourOf(cell, 'east')),
  west: CELLS.map((cell) => neighbourOf(cell, 'west')),
};

export function sameCell(a: Cell, b: Cell): boolean {
  return a.row === b.row && a.column === b.column;
}

const cellNumber = ({ row, column }: Cell): number => row * SIZE + column;
const ways = new Map<number, readonly number[]>();

/** Fewest moves between two cells, by breadth-first search. Every move has a way back. */
export function distance(from: Cell, to: Cell): number {
  let known = ways.get(cellNumber(to));
  if (!known) {
    const found = new Array<number>(SIZE * SIZE).fill(Number.POSITIVE_INFINITY);
    found[cellNumber(to)] = 0;
    const queue = [to];
    for (const cell of queue) {
      for (const next of SIDES.map((side) => drive(cell, side))) {
        if (found[cellNumber(next)] !== Number.POSITIVE_INFINITY) continue;
        found[cellNumber(next)] = found[cellNumber(cell)]! + 1;
        queue.push(next);
      }
    }
    known = found;
    ways.set(cellNumber(to), known);
  }
  return known[cellNumber(from)]!;
}
