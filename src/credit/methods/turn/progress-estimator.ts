/**
 * A small regression that divides outcomes among turns: c_k = w·φ_k, fitted so that Σ_k c_k comes near the outcome.
 *
 *   w = argmin Σ_i decay^age (Σ_k w·φ_{i,k} - R_i)² + ridge·|w|²
 *
 * After "SPA-RL: Reinforcing LLM Agents via Stepwise Progress Attribution", arXiv 2505.20732, where a language model with
 * a linear head is trained on the same loss.
 * 1. Linear in features of the turn, and solved exactly at every step from sums that forget slowly.
 * 2. Without `features`, a turn's are a constant and one of a fixed number of buckets, for the pair of states it led from
 *    and to; the last turn leads to the end.
 */

import { TurnwiseError } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json/json.ts';
import { missingField } from '../../contract/needs.ts';
import { hashText, mixBits } from '../../kit/hash.ts';
import { turnStarts } from '../../kit/turns.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';

export interface EstimatorOptions {
  readonly ridge: number;
  readonly decay: number;
  readonly buckets: number;
}

/** Sums of what was seen so far; plain JSON for checkpoints. The upper triangle of Σ x·xᵀ lies row by row. */
export interface EstimatorState extends JsonObject {
  readonly gram: readonly number[];
  readonly moment: readonly number[];
}

/** Fit to `trajectories` and what was seen before, and attribute their outcomes to their turns, the batch's laid end to end. */
export function attributeProgress(
  trajectories: readonly CreditTrajectory[],
  options: EstimatorOptions,
  before: EstimatorState | undefined,
): { readonly contributions: Float64Array; readonly state: EstimatorState } {
  const { buckets, width } = describe(trajectories, options.buckets);
  const starts = turnStarts(trajectories);
  const sums = remember(before, width, options.decay);
  const total = new Float64Array(width);
  for (const [index, { turns, outcome }] of trajectories.entries()) {
    total.fill(0);
    for (let k = 0; k < turns.length; k++) {
      const bucket = buckets[starts[index]! + k]!;
      if (bucket > 0) {
        total[0]! += 1;
        total[bucket]! += 1;
      } else for (let place = 0; place < width; place++) total[place]! += turns[k]!.features![place]!;
    }
    addTo(sums, total, outcome);
  }
  const weights = solve(sums, width, options.ridge);
  const contributions = new Float64Array(buckets.length);
  for (const [index, { turns }] of trajectories.entries()) {
    for (let k = 0; k < turns.length; k++) {
      const turn = starts[index]! + k;
      const bucket = buckets[turn]!;
      if (bucket > 0) contributions[turn] = weights[0]! + weights[bucket]!;
      else
        contributions[turn] = turns[k]!.features!.reduce((sum, one, place) => sum + one * weights[place]!, 0);
    }
  }
  return { contributions, state: { gram: Array.from(sums.gram), moment: Array.from(sums.moment) } };
}

/** (Σ_k c_k - R)²: what the estimator is fitted to make small. */
export function attributionError(contributions_K: ArrayLike<number>, outcome: number): number {
  let sum = 0;
  for (let k = 0; k < contributions_K.length; k++) sum += contributions_K[k]!;
  return (sum - outcome) ** 2;
}

/**
 * What the estimator sees of each turn: its bucket, from 1 on, which stands for a constant and a 1 in that bucket; 0 where
 * the turn has features. And of how many numbers a description consists.
 */
function describe(
  trajectories: readonly CreditTrajectory[],
  count: number,
): { readonly buckets: Int32Array; readonly width: number } {
  const starts = turnStarts(trajectories);
  const buckets = new Int32Array(starts[trajectories.length]!);
  const first = trajectories.find(({ turns }) => turns.length > 0)?.turns[0];
  const width = first?.features?.length ?? count + 1;
  // A table for each group, whose trajectories meet the same states: small ones stay in the processor's cache.
  const groups = new Map<string, Map<string, number>>();
  for (const [index, trajectory] of trajectories.entries()) {
    const { turns, groupId } = trajectory;
    const hashes = groups.get(groupId) ?? new Map<string, number>();
    groups.set(groupId, hashes);
    // From the end, so that each state is looked up once: as that of its turn, and as what the turn before led to.
    let next = END;
    for (let k = turns.length - 1; k >= 0; k--) {
      const { features, anchor } = turns[k]!;
      const own = anchor === undefined ? END : hashOf(anchor, hashes);
      if ((features?.length ?? count + 1) !== width) throw unevenFeatures(trajectory, k, width);
      if (features === undefined) {
        if (anchor === undefined) throw undescribed(trajectory, k);
        buckets[starts[index]! + k] = 1 + (mixBits(Math.imul(own, 31) ^ next) % count);
      }
      next = own;
    }
  }
  return { buckets, width };
}

function hashOf(text: string, hashes: Map<string, number>): number {
  let hash = hashes.get(text);
  if (hash === undefined) {
    // As a signed number, which is kept without memory of its own.
    hash = hashText(text) | 0;
    hashes.set(text, hash);
  }
  return hash;
}

function unevenFeatures({ id, turns }: CreditTrajectory, k: number, width: number): TurnwiseError {
  return new TurnwiseError('credit-feature-length', {
    what: `turns[${k}] of trajectory "${id}" is described by another number of features than the first turn of the batch`,
    seen: String(turns[k]!.features?.length ?? 'no features'),
    allowed: String(width),
    next: 'Give every turn of the batch equally many turns[].features, or none',
    fields: { trajectory: id, turn: k },
  });
}

function undescribed(trajectory: CreditTrajectory, k: number): TurnwiseError {
  const instead = 'Or give turns[].features or turns[].anchor of every turn, for the estimator';
  return missingField('spa-rl', trajectory, 'turns[].progress', k, instead);
}

/** Stands for what the last turn leads to. */
const END = 0x9e3779b9 | 0;

interface Sums {
  readonly gram: Float64Array;
  readonly moment: Float64Array;
}

/** Sums of earlier steps, faded; new ones where the width has changed. */
function remember(before: EstimatorState | undefined, width: number, decay: number): Sums {
  const kept = before?.moment.length === width ? before : undefined;
  const size = (width * (width + 1)) / 2;
  return {
    gram: kept ? Float64Array.from(kept.gram, (value) => value * decay) : new Float64Array(size),
    moment: kept ? Float64Array.from(kept.moment, (value) => value * decay) : new Float64Array(width),
  };
}

/** Adds x·xᵀ, and x times the outcome, for the sum x of a trajectory's descriptions. */
function addTo({ gram, moment }: Sums, total: Float64Array, outcome: number): void {
  const width = total.length;
  let cell = 0;
  for (let row = 0; row < width; row++) {
    const value = total[row]!;
    moment[row]! += value * outcome;
    let column = row;
    if (value === 0) cell += width - row;
    else {
      // Four at a time: this loop is most of what the estimator does.
      for (; column + 3 < width; column += 4, cell += 4) {
        gram[cell]! += value * total[column]!;
        gram[cell + 1]! += value * total[column + 1]!;
        gram[cell + 2]! += value * total[column + 2]!;
        gram[cell + 3]! += value * total[column + 3]!;
      }
      for (; column < width; column++) gram[cell++]! += value * total[column]!;
    }
  }
}

/** (gram + ridge·I)⁻¹·moment by Cholesky; the ridge keeps it positive definite. */
function solve({ gram, moment }: Sums, width: number, ridge: number): Float64Array {
  const lower = new Float64Array(width * width);
  let cell = 0;
  for (let row = 0; row < width; row++) {
    for (let column = row; column < width; column++)
      lower[column * width + row] = gram[cell++]! + (row === column ? ridge : 0);
  }
  for (let column = 0; column < width; column++) {
    for (let row = column; row < width; row++) {
      let sum = lower[row * width + column]!;
      for (let k = 0; k < column; k++) sum -= lower[row * width + k]! * lower[column * width + k]!;
      lower[row * width + column] =
        row === column ? Math.sqrt(Math.max(sum, ridge * 1e-9)) : sum / lower[column * width + column]!;
    }
  }
  const solution = Float64Array.from(moment);
  for (let row = 0; row < width; row++) {
    for (let k = 0; k < row; k++) solution[row]! -= lower[row * width + k]! * solution[k]!;
    solution[row]! /= lower[row * width + row]!;
  }
  for (let row = width - 1; row >= 0; row--) {
    for (let k = row + 1; k < width; k++) solution[row]! -= lower[k * width + row]! * solution[k]!;
    solution[row]! /= lower[row * width + row]!;
  }
  return solution;
}
