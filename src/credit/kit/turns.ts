/** All turns of a batch as one flat list, for methods that compare turns. */

import type { CreditTrajectory, CreditTurn, TrajectoryCredit } from '../report/rollouts.ts';
import { columnsOf } from './columns.ts';
import { groupKey } from './groups.ts';
import { type Partition, partition } from './within.ts';

/** Where each trajectory's turns begin in the flat list, and, last, how many there are. */
export function turnStarts(trajectories: readonly CreditTrajectory[]): Int32Array {
  return columnsOf(trajectories).starts;
}

/** The reward of each turn of the batch. */
export function flatRewards(trajectories: readonly CreditTrajectory[]): Float64Array {
  return columnsOf(trajectories).rewards.slice();
}

/** One number for each turn of the batch, from the numbers of each trajectory. */
export function flatTurns(
  trajectories: readonly CreditTrajectory[],
  numbersOf: (trajectory: CreditTrajectory, index: number) => ArrayLike<number>,
): Float64Array {
  const starts = turnStarts(trajectories);
  const flat = new Float64Array(starts[trajectories.length]!);
  for (const [index, trajectory] of trajectories.entries()) {
    const numbers = numbersOf(trajectory, index);
    const start = starts[index]!;
    // `set` takes many times longer for a list of numbers.
    for (let k = 0; k < numbers.length; k++) flat[start + k] = numbers[k]!;
  }
  return flat;
}

/** One number for each turn of the batch, turn by turn. */
export function eachTurn(
  trajectories: readonly CreditTrajectory[],
  numberOf: (turn: CreditTurn, k: number, trajectory: CreditTrajectory) => number,
): Float64Array {
  const flat = new Float64Array(turnStarts(trajectories)[trajectories.length]!);
  let next = 0;
  for (const trajectory of trajectories) {
    const { turns } = trajectory;
    for (let k = 0; k < turns.length; k++) flat[next++] = numberOf(turns[k]!, k, trajectory);
  }
  return flat;
}

/** The number of each trajectory at all its turns. */
export function spreadOverTurns(
  trajectories: readonly CreditTrajectory[],
  numbers: ArrayLike<number>,
): Float64Array {
  const starts = turnStarts(trajectories);
  const flat = new Float64Array(starts[trajectories.length]!);
  for (let index = 0; index < trajectories.length; index++)
    flat.fill(numbers[index]!, starts[index]!, starts[index + 1]!);
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
  for (let index = 0; index < trajectories.length; index++) {
    const length = starts[index + 1]! - starts[index]!;
    count = Math.max(count, length);
    for (let k = 0; k < length; k++) keys[starts[index]! + k] = k;
  }
  return { keys, count };
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

/** The credits with the flat rewards that they were computed from. */
export function withShaped(
  credits: readonly TrajectoryCredit[],
  trajectories: readonly CreditTrajectory[],
  rewards: Float64Array,
): TrajectoryCredit[] {
  const starts = turnStarts(trajectories);
  return credits.map((credit, index) => {
    const rewards_K = numbersBetween(rewards, starts[index]!, starts[index + 1]!);
    return { ...credit, shaped: { outcome: rewards_K.reduce((sum, reward) => sum + reward, 0), rewards_K } };
  });
}

/** A stretch of a flat list as a list of its own, several times faster than `Array.from`. */
function numbersBetween(flat: Float64Array, start: number, end: number): number[] {
  const numbers = new Array<number>(end - start);
  for (let index = start; index < end; index++) numbers[index - start] = flat[index]!;
  return numbers;
}

/**
 * In place, advantages of turns at mean 0 and variance 1 over the sampled tokens of the batch, or of each part, as if
 * each token carried its turn's advantage. A turn without tokens becomes 0, and so does a part that has fewer than two
 * tokens.
 */
export function whitenTurns(
  trajectories: readonly CreditTrajectory[],
  advantages: Float64Array,
  { keys, count }: Partition = { keys: new Int32Array(advantages.length), count: 1 },
): void {
  const { tokens } = columnsOf(trajectories);
  const counts = new Float64Array(count);
  const origins = new Float64Array(count);
  const means = new Float64Array(count);
  const scales = new Float64Array(count);
  for (let index = 0; index < keys.length; index++) {
    if (tokens[index] === 0) continue;
    const key = keys[index]!;
    if (counts[key] === 0) origins[key] = advantages[index]!;
    counts[key]! += tokens[index]!;
    means[key]! += tokens[index]! * (advantages[index]! - origins[key]!);
  }
  for (let key = 0; key < count; key++) means[key] = origins[key]! + means[key]! / Math.max(1, counts[key]!);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    const difference = advantages[index]! - means[key]!;
    scales[key]! += tokens[index]! * difference * difference;
  }
  for (let key = 0; key < count; key++)
    scales[key] = counts[key]! < 2 ? Infinity : Math.sqrt(scales[key]! / (counts[key]! - 1) + 1e-8);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    advantages[index] = tokens[index] === 0 ? 0 : (advantages[index]! - means[key]!) / scales[key]!;
  }
}
