/** Sampled tokens of a batch as one flat list, for token-level methods. Observation tokens do not exist here. */

import { turnRewards } from './returns.ts';
import type { CreditTrajectory, TrajectoryCredit } from './rollouts.ts';
import { numbersBetween } from './turns.ts';

/** Where each trajectory's tokens begin in the flat list, and, last, how many there are. */
export function tokenStarts(trajectories: readonly CreditTrajectory[]): Int32Array {
  const starts = new Int32Array(trajectories.length + 1);
  for (const [index, { turns }] of trajectories.entries()) {
    let tokens = 0;
    for (const turn of turns) tokens += turn.tokens;
    starts[index + 1] = starts[index]! + tokens;
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
  const rewards = new Float64Array(starts[trajectories.length]!);
  for (const [index, trajectory] of trajectories.entries()) {
    const rewards_K = turnRewards(trajectory);
    const start = starts[index]!;
    let next = start;
    for (let k = 0; k < rewards_K.length; k++) {
      next += trajectory.turns[k]!.tokens;
      if (next > start) rewards[next - 1]! += rewards_K[k]!;
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
 * Mean 0 and variance 1 over all tokens of the batch, so long trajectories weigh more: (A - mean) / sqrt(var + 1e-8), the
 * variance divided by n - 1. A batch of one token gives 0.
 */
export function whitenTokens(tokens: Float64Array): Float64Array {
  const count = tokens.length;
  if (count < 2) return new Float64Array(count);
  const origin = tokens[0]!;
  let sum = 0;
  for (let t = 0; t < count; t++) sum += tokens[t]! - origin;
  const mean = origin + sum / count;
  let squares = 0;
  for (let t = 0; t < count; t++) squares += (tokens[t]! - mean) ** 2;
  const scale = Math.sqrt(squares / (count - 1) + 1e-8);
  const whitened = new Float64Array(count);
  for (let t = 0; t < count; t++) whitened[t] = (tokens[t]! - mean) / scale;
  return whitened;
}

/** Flat token advantages (and targets of the value function) cut into trajectories and turns. */
export function creditTokens(
  trajectories: readonly CreditTrajectory[],
  advantages: Float64Array,
  returns?: Float64Array,
): TrajectoryCredit[] {
  let start = 0;
  return trajectories.map(({ id, turns }) => {
    const count = turns.length;
    const turnAdvantages_K = new Array<number>(count);
    const tokenAdvantages_K_T = new Array<number[]>(count);
    const returns_K_T = returns && new Array<number[]>(count);
    for (let k = 0; k < count; k++) {
      const end = start + turns[k]!.tokens;
      turnAdvantages_K[k] = meanOf(advantages, start, end);
      tokenAdvantages_K_T[k] = numbersBetween(advantages, start, end);
      if (returns_K_T) returns_K_T[k] = numbersBetween(returns, start, end);
      start = end;
    }
    return { id, turnAdvantages_K, tokenAdvantages_K_T, ...(returns_K_T && { returns_K_T }) };
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
