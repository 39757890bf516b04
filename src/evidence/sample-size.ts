/** How many seeds a question needs. What the seeds of a finished comparison could have found is never reported. */

import { chiSquareQuantile, normalQuantile } from './distributions.ts';

export interface Question {
  /** Standard deviation of paired differences. */
  readonly sd: number;
  /** The difference that should be found. */
  readonly difference: number;
  /** Default: 0.05, two-sided; after Holm, the level of the claim. */
  readonly alpha?: number;
  /** Default: 0.8. */
  readonly power?: number;
}

/**
 * Seeds of a paired t-test: (z₁₋α/₂ + z_power)²·(sd/δ)² + z²₁₋α/₂/2, not rounded; within 1 of the noncentral t from 8 seeds on.
 */
export function seedsNeeded({ sd, difference, alpha = 0.05, power = 0.8 }: Question): number {
  const z = normalQuantile(1 - alpha / 2);
  return (z + normalQuantile(power)) ** 2 * (sd / difference) ** 2 + z ** 2 / 2;
}

/** The upper limit of a standard deviation that was estimated from so many values; with 80% confidence unless told otherwise. */
export function upperSd(sd: number, count: number, confidence = 0.8): number {
  return sd * Math.sqrt((count - 1) / chiSquareQuantile(1 - confidence, count - 1));
}
