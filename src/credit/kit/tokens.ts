/** Sampled tokens of a batch as one flat list, for token-level methods. Observation tokens do not exist here. */

import { mean } from '../../core/statistics.ts';
import type { CreditTrajectory, TrajectoryCredit } from '../report/rollouts.ts';
import { columnsOf } from './columns.ts';

/** Where each trajectory's tokens begin in the flat list, and, last, how many there are. */
export function tokenStarts(trajectories: readonly CreditTrajectory[]): Int32Array {
  const { starts: turns, tokens } = columnsOf(trajectories);
  const starts = new Int32Array(trajectories.length + 1);
  for (let index = 0; index < trajectories.length; index++) {
    let end = starts[index]!;
    for (let turn = turns[index]!; turn < turns[index + 1]!; turn++) end += tokens[turn]!;
    starts[index + 1] = end;
  }
  return starts;
}

/**
 * One reward per sampled token: a turn's reward lies on its last sampled token. The reward of a turn without sampled
 * tokens goes to the last sampled token before it; before the first there is nobody to credit.
 */
export function tokenRewards(
  trajectories: readonly CreditTrajectory[],
  starts: Int32Array = tokenStarts(trajectories),
): Float64Array {
  const { starts: turns, tokens, rewards: turnRewards } = columnsOf(trajectories);
  const rewards = new Float64Array(starts[trajectories.length]!);
  for (let index = 0; index < trajectories.length; index++) {
    const start = starts[index]!;
    let next = start;
    for (let turn = turns[index]!; turn < turns[index + 1]!; turn++) {
      next += tokens[turn]!;
      if (next > start) rewards[next - 1]! += turnRewards[turn]!;
    }
  }
  return rewards;
}

/** One number per sampled token of the batch; `numbersOf` gives those of a turn, as many as it sampled. */
export function flatTokens(
  trajectories: readonly CreditTrajectory[],
  numbersOf: (trajectory: CreditTrajectory, k: number) => readonly number[],
  starts: Int32Array = tokenStarts(trajectories),
): Float64Array {
  const flat = new Float64Array(starts[trajectories.length]!);
  let next = 0;
  for (const trajectory of trajectories) {
    for (let k = 0; k < trajectory.turns.length; k++) {
      const numbers = numbersOf(trajectory, k);
      for (let t = 0; t < numbers.length; t++) flat[next++] = numbers[t]!;
    }
  }
  return flat;
}

/**
 * In place, mean 0 and variance 1 over all tokens of the batch, so long trajectories weigh more:
 * (A - mean) / sqrt(var + 1e-8), the variance divided by n - 1. A batch of one token becomes 0.
 */
export function whitenTokens(tokens: Float64Array): void {
  const centre = tokens.length === 0 ? 0 : mean(tokens);
  let squares = 0;
  for (let t = 0; t < tokens.length; t++) {
    tokens[t]! -= centre;
    squares += tokens[t]! * tokens[t]!;
  }
  const scale = Math.sqrt(squares / Math.max(1, tokens.length - 1) + 1e-8);
  for (let t = 0; t < tokens.length; t++) tokens[t]! /= scale;
}

/** Flat token advantages (and targets of the value function) cut into trajectories, which share their memory. */
export function creditTokens(
  trajectories: readonly CreditTrajectory[],
  advantages: Float64Array,
  returns?: Float64Array,
): TrajectoryCredit[] {
  const { starts, tokens } = columnsOf(trajectories);
  let end = 0;
  return trajectories.map(({ id }, index) => {
    const first = end;
    const turnAdvantages_K = new Array<number>(starts[index + 1]! - starts[index]!);
    for (let k = 0; k < turnAdvantages_K.length; k++) {
      const start = end;
      end += tokens[starts[index]! + k]!;
      turnAdvantages_K[k] = meanOf(advantages, start, end);
    }
    return {
      id,
      turnAdvantages_K,
      tokenAdvantages_T: advantages.subarray(first, end),
      ...(returns && { returns_T: returns.subarray(first, end) }),
    };
  });
}

/** Numbers of a trajectory's sampled tokens as a list for each turn. */
export function cutIntoTurns(numbers_T: Float64Array, tokens_K: readonly number[]): number[][] {
  let end = 0;
  return tokens_K.map((tokens) => {
    end += tokens;
    return Array.from(numbers_T.subarray(end - tokens, end));
  });
}

/** 0 of nothing; exactly the value of equal ones. */
function meanOf(flat: Float64Array, start: number, end: number): number {
  if (end === start) return 0;
  const origin = flat[start]!;
  let sum = 0;
  for (let index = start; index < end; index++) sum += flat[index]! - origin;
  return origin + sum / (end - start);
}
