/** What every engine makes of targets for a loss: the numbers of their turns, and of their segments. */

import type { SegmentLevel, TokenTargets } from './objective.ts';

/** The channel `turns`: from 1, 0 where a target belongs to no turn. */
export function turnsOf(turn_N: Int32Array): Float32Array {
  return Float32Array.from(turn_N, (turn) => turn + 1);
}

/** Numbers below N, equal for the targets of one row, or of one turn of a row. */
export function segmentsOf(
  { row_N, turn_N }: Pick<TokenTargets, 'row_N' | 'turn_N'>,
  level: SegmentLevel,
): BigInt64Array {
  const numbers = new Map<string, bigint>();
  return BigInt64Array.from(row_N, (row, target) => {
    const key = level === 'row' ? `${row}` : `${row} ${turn_N[target]}`;
    const number = numbers.get(key) ?? BigInt(numbers.size);
    numbers.set(key, number);
    return number;
  });
}
