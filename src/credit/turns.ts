/** All turns of a batch as one flat list, for methods that compare turns. */

import { groupKey } from './groups.ts';
import type { CreditTrajectory, CreditTurn, TrajectoryCredit } from './rollouts.ts';
import { type Partition, partition } from './within.ts';

/** Where each trajectory's turns begin in the flat list, and, last, how many there are. */
export function turnStarts(trajectories: readonly CreditTrajectory[]): Int32Array {
  const starts = new Int32Array(trajectories.length + 1);
  for (const [index, { turns }] of trajectories.entries()) starts[index + 1] = starts[index]! + turns.length;
  return starts;
}

/** One number for each turn of the batch, from the numbers of each trajectory. */
export function flatTurns(
  trajectories: readonly CreditTrajectory[],
  numbersOf: (trajectory: CreditTrajectory, index: number) => ArrayLike<number>,
): Float64Array {
  const starts = turnStarts(trajectories);
  const flat = new Float64Array(starts[trajectories.length]!);
  for (const [index, trajectory] of trajectories.entries())
    flat.set(numbersOf(trajectory, index), starts[index]!);
  return flat;
}

/** The part that each turn is in because of its trajectory. */
export function partitionTurns(
  trajectories: readonly CreditTrajectory[],
  keyOf: (trajectory: CreditTrajectory) => string = groupKey,
): Partition {
  const { keys: keyOfTrajectory, count } = partition(trajectories, keyOf);
  const starts = turnStarts(trajectories);
  const keys = new Int32Array(starts[trajectories.length]!);
  for (let index = 0; index < trajectories.length; index++) {
    keys.fill(keyOfTrajectory[index]!, starts[index]!, starts[index + 1]!);
  }
  return { keys, count };
}

/** Turns with the same place in their trajectory share a part: all first turns, all second turns. */
export function partitionByPlace(trajectories: readonly CreditTrajectory[]): Partition {
  const starts = turnStarts(trajectories);
  const keys = new Int32Array(starts[trajectories.length]!);
  let count = 0;
  for (const [index, { turns }] of trajectories.entries()) {
    count = Math.max(count, turns.length);
    for (let k = 0; k < turns.length; k++) keys[starts[index]! + k] = k;
  }
  return { keys, count };
}

/** Turns with the same key share a part; turns without one are in none. */
export function partitionByTurn(
  trajectories: readonly CreditTrajectory[],
  keyOf: (turn: CreditTurn, k: number, trajectory: CreditTrajectory) => string | number,
): Partition {
  const numbers = new Map<string | number, number>();
  const starts = turnStarts(trajectories);
  const keys = new Int32Array(starts[trajectories.length]!);
  for (const [index, trajectory] of trajectories.entries()) {
    const { turns } = trajectory;
    for (let k = 0; k < turns.length; k++) {
      const key = keyOf(turns[k]!, k, trajectory);
      let number = numbers.get(key);
      if (number === undefined) {
        number = numbers.size;
        numbers.set(key, number);
      }
      keys[starts[index]! + k] = number;
    }
  }
  return { keys, count: numbers.size };
}

/** In place, each number plus γ times what follows it in its trajectory. */
export function sumToGo(flat: Float64Array, starts: Int32Array, gamma: number): void {
  for (let index = 0; index + 1 < starts.length; index++) {
    for (let turn = starts[index + 1]! - 2; turn >= starts[index]!; turn--)
      flat[turn]! += gamma * flat[turn + 1]!;
  }
}

/** Flat advantages cut into trajectories. */
export function creditTurns(
  trajectories: readonly CreditTrajectory[],
  advantages: Float64Array,
): TrajectoryCredit[] {
  const starts = turnStarts(trajectories);
  return trajectories.map(({ id }, index) => ({
    id,
    turnAdvantages_K: numbersBetween(advantages, starts[index]!, starts[index + 1]!),
  }));
}

/** A stretch of a flat list as a list of its own, several times faster than `Array.from`. */
export function numbersBetween(flat: Float64Array, start: number, end: number): number[] {
  // Of the exact size: a list that grows keeps room for more, in each of many turns.
  if (end - start === 1) return [flat[start]!];
  const numbers = new Array<number>(end - start);
  for (let index = start; index < end; index++) numbers[index - start] = flat[index]!;
  return numbers;
}

/**
 * Advantages of turns at mean 0 and variance 1 over the sampled tokens of the batch, as if each token carried its turn's
 * advantage. A turn without tokens becomes 0, and so does everything where the batch has fewer than two tokens.
 */
export function whitenTurns(
  trajectories: readonly CreditTrajectory[],
  advantages: Float64Array,
): Float64Array {
  const tokens = flatTurns(trajectories, ({ turns }) => turns.map((turn) => turn.tokens));
  let count = 0;
  let sum = 0;
  let origin: number | undefined;
  for (let index = 0; index < advantages.length; index++) {
    if (tokens[index] === 0) continue;
    origin ??= advantages[index]!;
    count += tokens[index]!;
    sum += tokens[index]! * (advantages[index]! - origin);
  }
  if (origin === undefined || count < 2) return new Float64Array(advantages.length);
  const mean = origin + sum / count;
  let squares = 0;
  for (let index = 0; index < advantages.length; index++) {
    squares += tokens[index]! * (advantages[index]! - mean) ** 2;
  }
  const scale = Math.sqrt(squares / (count - 1) + 1e-8);
  return advantages.map((advantage, index) => (tokens[index] === 0 ? 0 : (advantage - mean) / scale));
}
