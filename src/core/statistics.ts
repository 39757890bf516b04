/** The few statistics that credit, metrics and reports share, each named by its exact definition. */

import { TurnwiseError } from './errors.ts';
import type { Rng } from './rng.ts';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Arithmetic mean of at least one value. Equal values give exactly that value, so centring them gives exactly 0. */
export function mean(values: ArrayLike<number>): number {
  requireCount('The mean', values, 1);
  const origin = values[0]!;
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index]! - origin;
  return origin + sum / values.length;
}

/** Standard deviation that divides by n (std₀), of at least one value. */
export function populationStd(values: readonly number[]): number {
  return Math.sqrt(sumOfSquares(values) / values.length);
}

/** Bessel-corrected standard deviation, dividing by n - 1 (std₁), of at least two values. */
export function sampleStd(values: readonly number[]): number {
  requireCount('The sample standard deviation', values, 2);
  return Math.sqrt(sumOfSquares(values) / (values.length - 1));
}

/** Quantile with linear interpolation at position q·(n - 1), for q in [0, 1]. */
export function quantile(values: readonly number[], q: number): number {
  requireCount('A quantile', values, 1);
  if (!(q >= 0 && q <= 1)) {
    throw new TurnwiseError('quantile-out-of-range', {
      what: 'A quantile needs a share between 0 and 1',
      seen: String(q),
    });
  }
  const sorted = [...values].sort((a, b) => a - b);
  const position = q * (sorted.length - 1);
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  return below + (above - below) * (position - Math.floor(position));
}

/**
 * (x - mean) / sqrt(variance + 1e-8) over the values where `mask` is 1, and 0 elsewhere; without a mask, over all. The
 * variance divides by n - 1. Refuses fewer than two unmasked values, whose spread is not defined.
 */
export function maskedWhiten(values: readonly number[], mask?: readonly number[]): number[] {
  const kept = mask ? values.filter((_, index) => mask[index] === 1) : values;
  requireCount('Whitening', kept, 2);
  const centre = mean(kept);
  const scale = Math.sqrt(sampleStd(kept) ** 2 + 1e-8);
  return values.map((value, index) => (mask && mask[index] !== 1 ? 0 : (value - centre) / scale));
}

/** Wilson score interval of a proportion; 95% unless `z` says otherwise. Without trials it is all of [0, 1]. */
export function wilsonInterval(successes: number, trials: number, z = 1.959963984540054): Interval {
  if (trials === 0) return { low: 0, high: 1 };
  const share = successes / trials;
  const denominator = 1 + z ** 2 / trials;
  const centre = (share + z ** 2 / (2 * trials)) / denominator;
  const halfWidth =
    (z / denominator) * Math.sqrt((share * (1 - share)) / trials + z ** 2 / (4 * trials ** 2));
  return { low: Math.max(0, centre - halfWidth), high: Math.min(1, centre + halfWidth) };
}

/** 95% percentile-bootstrap interval of the mean of at least one value; the same generator gives the same interval. */
export function bootstrapMeanInterval(values: readonly number[], rng: Rng, resamples = 2000): Interval {
  requireCount('A bootstrap interval', values, 1);
  const means = Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let draw = 0; draw < values.length; draw++) sum += rng.pick(values);
    return sum / values.length;
  });
  return { low: quantile(means, 0.025), high: quantile(means, 0.975) };
}

function sumOfSquares(values: readonly number[]): number {
  const centre = mean(values);
  let sum = 0;
  for (const value of values) sum += (value - centre) ** 2;
  return sum;
}

function requireCount(subject: string, values: ArrayLike<number>, minimum: number): void {
  if (values.length >= minimum) return;
  throw new TurnwiseError('too-few-values', {
    what: `${subject} is not defined for so few values`,
    seen: String(values.length),
    allowed: `at least ${minimum}`,
  });
}
