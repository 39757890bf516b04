/** The layout of the maze and its cells. */

type Cell = { readonly row: number; readonly column: number };

/** 10 rows by 13 columns; `#` wall, `G` goal. */
export const LAYOUT: readonly string[] = [
  '#############',
  '#.....#.....#',
  '###.#####.###',
  '###.#####.###',
  '###.#####.###',
  '###.......###',
  '######.######',
  '######.######',
  '######G######',
  '#############',
];

const MOVES = { left: [0, -1], right: [0, 1], up: [-1, 0], down: [1, 0] } as const;
export type Side = keyof typeof MOVES;
export const SIDES = ['left', 'right', 'up', 'down'] as const satisfies Side[];

/** The cell that `side` leads to, a wall or not. */
export function neighbour({ row, column }: Cell, side: Side): Cell {
  return { row: row + MOVES[side][0], column: column + MOVES[side][1] };
}

/** Its mark; beyond the layout everything is wall. */
export function cellAt({ row, column }: Cell): string {
  return LAYOUT[row]?.[column] ?? '#';
}

/** What lies on each side of a cell. */
export function sidesOf(cell: Cell): readonly (readonly [Side, 'wall' | 'goal' | 'free'])[] {
  return SIDES.map((side) => {
    const mark = cellAt(neighbour(cell, side));
    return [side, mark === '#' ? 'wall' : mark === 'G' ? 'goal' : 'free'];
  });
}
