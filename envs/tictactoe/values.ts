/** What every position is worth to the first role when both play well. */

export const LINES: readonly (readonly number[])[] = [
  ...[0, 3, 6].map((row) => [row, row + 1, row + 2]),
  ...[0, 1, 2].map((column) => [column, column + 3, column + 6]),
  [0, 4, 8],
  [2, 4, 6],
];

/** By the board as a number to base 3. */
const known = new Map<number, number>();

/** 1 where the first role wins after `taken`, -1 where it loses, 0 where the game is drawn. */
export function values(taken: readonly number[]): number {
  const key = taken.reduce((sum, cell, turn) => sum + 3 ** cell * (1 + (turn % 2)), 0);
  const found = known.get(key);
  if (found !== undefined) return found;
  const value = search(taken);
  known.set(key, value);
  return value;
}

function search(taken: readonly number[]): number {
  const last = taken.length % 2 === 0 ? -1 : 1;
  const own = taken.filter((_, turn) => (taken.length - 1 - turn) % 2 === 0);
  if (LINES.some((line) => line.every((cell) => own.includes(cell)))) return last;
  const next = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    .filter((cell) => !taken.includes(cell))
    .map((cell) => values([...taken, cell]));
  if (next.length === 0) return 0;
  return last === 1 ? Math.min(...next) : Math.max(...next);
}
