/**
 * The primary test of paired differences: flip the signs. Where two arms are interchangeable within a pair, every pattern
 * of signs is as likely as the one seen, whatever the shape of the differences; so the test is exact under skew, ceilings,
 * collapses and ties.
 */

import { TurnwiseError } from '../core/errors.ts';
import type { Rng } from '../core/rng.ts';
import type { Interval } from '../core/statistics.ts';
import { nthSmallest } from './nth-smallest.ts';

export interface SignFlips {
  /** Two-sided, of the null that the mean difference is 0. */
  readonly p: number;
  /** The values of the mean that the same test does not reject; its ends are infinite where no pattern is rare enough. */
  readonly interval: Interval;
}

export interface SignFlipOptions {
  /** Of the test that the interval inverts. Default: 0.05. */
  readonly alpha?: number;
  /** Weights of the differences in the mean. Default: equal ones. */
  readonly weights?: readonly number[];
  /** Draws patterns where there are too many: beyond `mostExact` differences. */
  readonly rng: Rng;
}

/** As many differences have all their patterns counted: 2^20 sums are 8 MB. */
export const mostExact = 20;
/** Patterns that are drawn where there are more differences. */
export const drawnPatterns = 200_000;

/**
 * Test and interval of the mean of `differences_S`, one for each seed S. Up to 20 seeds all 2^S patterns are counted; more
 * are drawn, the observed pattern counted among them.
 *
 * @example
 * const { p, interval } = signFlips([0.02, 0.05, 0.01, 0.03, 0.04, 0.02], { rng: Rng.of('flips') });
 * @throws TurnwiseError `too-few-values` without differences
 */
export function signFlips(differences_S: readonly number[], options: SignFlipOptions): SignFlips {
  const { alpha = 0.05, weights = differences_S.map(() => 1), rng } = options;
  const count = differences_S.length;
  if (count === 0) {
    throw new TurnwiseError('too-few-values', {
      what: 'A test of paired differences needs at least one',
      seen: '0 values',
      allowed: 'at least 1',
    });
  }
  const parts = differences_S.map((difference, index) => difference * weights[index]!);
  return count <= mostExact ? exact(parts, weights, alpha) : drawn(parts, weights, alpha, rng);
}

/** Ties at the threshold would flip with the rounding of sums. */
const toleranceOf = (parts: readonly number[]): number =>
  1e-9 * parts.reduce((sum, part) => sum + Math.abs(part), 0);

function exact(parts: readonly number[], weights: readonly number[], alpha: number): SignFlips {
  const patterns = 2 ** parts.length;
  const sums = subsetSums(parts);
  const total = sums[patterns - 1]!;
  const reach = Math.abs(total) - toleranceOf(parts);
  let asFar = 0;
  for (let mask = 0; mask < patterns; mask++) if (Math.abs(2 * sums[mask]! - total) >= reach) asFar++;
  const weightOf = subsetSums(weights);
  const means = sums.subarray(1);
  for (let mask = 1; mask < patterns; mask++) means[mask - 1] = sums[mask]! / weightOf[mask]!;
  return { p: asFar / patterns, interval: between(means, rejected(alpha, patterns)) };
}

/** How many subset means lie outside an interval, at either end. */
const rejected = (alpha: number, patterns: number): number => Math.floor((alpha * patterns) / 2 + 1e-9);

const unbounded: Interval = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

function between(means: Float64Array, cut: number): Interval {
  if (cut === 0) return unbounded;
  return { low: nthSmallest(means, cut - 1), high: nthSmallest(means, means.length - cut) };
}

function subsetSums(values: readonly number[]): Float64Array {
  const sums = new Float64Array(2 ** values.length);
  for (const [index, value] of values.entries()) {
    const size = 2 ** index;
    for (let mask = 0; mask < size; mask++) sums[size + mask] = sums[mask]! + value;
  }
  return sums;
}

/**
 * A mean θ is as far from the pattern as from what was seen where θ lies beyond the mean of either side of the pattern, so
 * each pattern rejects below the smaller of these two means and above the larger, and no search for the ends is needed.
 */
function drawn(parts: readonly number[], weights: readonly number[], alpha: number, rng: Rng): SignFlips {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const [total, weight] = [sum(parts), sum(weights)];
  const reach = Math.abs(total) - toleranceOf(parts);
  const lows = new Float64Array(drawnPatterns);
  const highs = new Float64Array(drawnPatterns);
  let asFar = 0;
  for (let draw = 0; draw < drawnPatterns; draw++) {
    let [kept, keptWeight, bits] = [0, 0, 0];
    for (let index = 0; index < parts.length; index++) {
      if (index % 32 === 0) bits = rng.uint32();
      if (bits & 1) {
        kept += parts[index]!;
        keptWeight += weights[index]!;
      }
      bits >>>= 1;
    }
    if (Math.abs(2 * kept - total) >= reach) asFar++;
    const flippedWeight = weight - keptWeight;
    // The observed pattern, and its mirror image, are as far at every θ.
    const observed = keptWeight === 0 || flippedWeight <= 1e-12 * weight;
    const [one, other] = [kept / keptWeight, (total - kept) / flippedWeight];
    lows[draw] = observed ? Number.NEGATIVE_INFINITY : Math.min(one, other);
    highs[draw] = observed ? Number.POSITIVE_INFINITY : Math.max(one, other);
  }
  const cut = Math.floor(alpha * (1 + drawnPatterns) - 1 + 1e-9);
  const interval =
    cut < 0 ? unbounded : { low: nthSmallest(lows, cut), high: nthSmallest(highs, drawnPatterns - 1 - cut) };
  return { p: (1 + asFar) / (1 + drawnPatterns), interval };
}
