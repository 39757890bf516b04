/** Curves of several seeds as one: the interquartile mean with its interval, at evenly spaced places. */

import { Rng } from '../../core/rng.ts';
import { bootstrapInterval, interquartileMean } from '../../eval/across-seeds.ts';
import { valueAt } from '../../evidence/learning-curve.ts';
import { along } from './results.ts';
import type { RunCurve } from './run-curve.ts';

export interface BandPoint {
  readonly spent: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * `count` points from the beginning to where the first run ended; nothing without runs.
 *
 * @param name of the recipe: names the randomness of the intervals
 */
export function bandOf(
  curves: readonly RunCurve[],
  axis: 'turns' | 'tokens',
  count: number,
  name: string,
): BandPoint[] {
  if (curves.length === 0) return [];
  const lines = curves.map((curve) => along(curve, axis));
  const start = Math.max(...lines.map((line) => line[0]!.spent));
  const end = Math.min(...lines.map((line) => line.at(-1)!.spent));
  return Array.from({ length: count }, (_, index) => {
    const spent = start + ((end - start) * index) / (count - 1);
    const values = lines.map((line) => valueAt(line, spent));
    const rng = Rng.of('compare', 'band', axis, name);
    const { low, high } = bootstrapInterval(values, interquartileMean, rng, 500);
    return { spent, value: interquartileMean(values), low, high };
  });
}
