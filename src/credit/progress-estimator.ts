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

import { TurnwiseError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { hashText, mixBits } from './hash.ts';
import { missingField } from './needs.ts';
import type { CreditTrajectory } from './rollouts.ts';

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

/** What a turn is described by: its features, or its bucket, which stands for a constant and a 1 in that bucket. */
type Features = number | readonly number[];

/** Fit to `trajectories` and what was seen before, and attribute their outcomes to their turns. */
export function attributeProgress(
  trajectories: readonly CreditTrajectory[],
  options: EstimatorOptions,
  before: EstimatorState | undefined,
): { readonly contributions: readonly (readonly number[])[]; readonly state: EstimatorState } {
  const hashes = new Map<string, number>();
  const features = trajectories.map((trajectory) => featuresOf(trajectory, options.buckets, hashes));
  const width = widthOf(trajectories, options.buckets);
  const sums = remember(before, width, options.decay);
  for (const [index, { outcome }] of trajectories.entries()) addTo(sums, features[index]!, outcome, width);
  const weights = solve(sums, width, options.ridge);
  const contributions = features.map((turns) =>
    turns.map((turn) => {
      if (typeof turn === 'number') return weights[0]! + weights[turn]!;
      let sum = 0;
      for (let place = 0; place < width; place++) sum += weights[place]! * turn[place]!;
      return sum;
    }),
  );
  return { contributions, state: { gram: Array.from(sums.gram), moment: Array.from(sums.moment) } };
}

/** (Σ_k c_k - R)²: what the estimator is fitted to make small. */
export function attributionError(contributions_K: readonly number[], outcome: number): number {
  return (contributions_K.reduce((sum, one) => sum + one, 0) - outcome) ** 2;
}

function widthOf(trajectories: readonly CreditTrajectory[], buckets: number): number {
  let width: number | undefined;
  for (const { id, turns } of trajectories) {
    for (const [k, { features }] of turns.entries()) {
      const own = features?.length ?? buckets + 1;
      width ??= own;
      if (own === width) continue;
      throw new TurnwiseError('credit-feature-length', {
        what: `turns[${k}] of trajectory "${id}" is described by another number of features than the turns before it`,
        seen: String(own),
        allowed: String(width),
        next: 'Give every turn of the batch equally many turns[].features, or none',
        fields: { trajectory: id, turn: k },
      });
    }
  }
  return width ?? buckets + 1;
}

function featuresOf(trajectory: CreditTrajectory, buckets: number, hashes: Map<string, number>): Features[] {
  const { turns } = trajectory;
  const hashOf = (text: string): number => {
    let hash = hashes.get(text);
    if (hash === undefined) {
      hash = hashText(text);
      hashes.set(text, hash);
    }
    return hash;
  };
  const found = new Array<Features>(turns.length);
  // From the end, so that each state is looked up once: as that of its turn, and as what the turn before led to.
  let next = END;
  for (let k = turns.length - 1; k >= 0; k--) {
    const { features, anchor } = turns[k]!;
    if (features !== undefined) {
      found[k] = features;
      next = anchor === undefined ? END : hashOf(anchor);
      continue;
    }
    if (anchor === undefined) {
      throw missingField(
        'spa-rl',
        trajectory,
        'turns[].progress',
        k,
        'Or give turns[].features or turns[].anchor of every turn, for the estimator',
      );
    }
    const own = hashOf(anchor);
    found[k] = 1 + (mixBits(Math.imul(own, 31) ^ next) % buckets);
    next = own;
  }
  return found;
}

/** Stands for what the last turn leads to. */
const END = 0x9e3779b9;

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

function addTo({ gram, moment }: Sums, turns: readonly Features[], outcome: number, width: number): void {
  const total = new Float64Array(width);
  for (const turn of turns) {
    if (typeof turn === 'number') {
      total[0]! += 1;
      total[turn]! += 1;
    } else for (let place = 0; place < width; place++) total[place]! += turn[place]!;
  }
  let cell = 0;
  for (let row = 0; row < width; row++) {
    const value = total[row]!;
    moment[row]! += value * outcome;
    if (value === 0) {
      cell += width - row;
      continue;
    }
    for (let column = row; column < width; column++) gram[cell++]! += value * total[column]!;
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
