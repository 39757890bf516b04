/** Curves of several seeds as one: their mean with its pointwise interval, at evenly spaced places. */

import type { CostAxis } from '../../compare/budget.ts';
import { curveOf, type Reading, type RunRecord } from '../../compare/run-record.ts';
import type { ArmResult } from '../../compare/world-results.ts';
import { mean } from '../../core/statistics.ts';
import { type CurvePoint, valueAt } from '../../evidence/learning-curve.ts';
import { fewestDifferences, type PairedComparison } from '../../evidence/paired.ts';
import { pairedT } from '../../evidence/paired-t.ts';

export interface BandPoint {
  readonly spent: number;
  readonly value: number;
  /** 95%, of the mean, at this place alone; absent with few seeds. */
  readonly interval?: { readonly low: number; readonly high: number };
}

/** The curves of an arm, of the seeds that have one. */
export function curvesOf({ seeds }: ArmResult, { quantity }: Reading, axis: CostAxis): CurvePoint[][] {
  return seeds
    .flatMap(({ run }) => (run ? [curveOf(run, quantity, axis)] : []))
    .filter(({ length }) => length > 0);
}

/** `count` points from the beginning to `end`, at most to where the first run ended; nothing without runs. */
export function bandOf(
  curves: readonly (readonly CurvePoint[])[],
  count: number,
  end = Number.POSITIVE_INFINITY,
): BandPoint[] {
  if (curves.length === 0) return [];
  const start = Math.max(...curves.map((curve) => curve[0]!.spent));
  const last = Math.min(end, ...curves.map((curve) => curve.at(-1)!.spent));
  return Array.from({ length: count }, (_, index) => {
    const spent = start + ((last - start) * index) / (count - 1);
    return { spent, ...summed(curves.map((curve) => valueAt(curve, spent))) };
  });
}

/** The difference of two arms seed by seed along the way: the only band that pairs. */
export function differenceBand(
  first: readonly (readonly [number, RunRecord])[],
  second: readonly (readonly [number, RunRecord])[],
  { quantity, axis, end }: Reading,
  count: number,
): BandPoint[] {
  const others = new Map(second);
  const pairs = first.flatMap(([seed, run]) => {
    const other = others.get(seed);
    const curves = other && [curveOf(run, quantity, axis), curveOf(other, quantity, axis)];
    return curves?.every(({ length }) => length > 0) ? [curves as [CurvePoint[], CurvePoint[]]] : [];
  });
  if (pairs.length === 0) return [];
  return Array.from({ length: count }, (_, index) => {
    const spent = (end * index) / (count - 1);
    return { spent, ...summed(pairs.map(([a, b]) => valueAt(a, spent) - valueAt(b, spent))) };
  });
}

function summed(values: readonly number[]): Pick<BandPoint, 'value' | 'interval'> {
  const { interval } = pairedT(values);
  const shown = values.length >= fewestDifferences && interval !== null;
  return { value: mean(values), ...(shown && { interval }) };
}

/** The interval of a difference, where there are seeds enough for one. */
export function shownInterval({ flips }: PairedComparison): { low: number; high: number } | undefined {
  return Number.isFinite(flips.interval.low) && Number.isFinite(flips.interval.high)
    ? flips.interval
    : undefined;
}
