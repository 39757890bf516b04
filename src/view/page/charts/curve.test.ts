import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearestIndex, rangeOf, smoothed } from './curve.ts';

test('smoothing is the debiased exponential mean by steps', () => {
  const values = [1, 0, 0, 4];
  const by = (weights: readonly number[], upTo: number): number =>
    values.slice(0, upTo + 1).reduce((sum, value, index) => sum + value * weights[upTo - index]!, 0) /
    weights.slice(0, upTo + 1).reduce((a, b) => a + b, 0);
  const weights = [1, 0.5, 0.25, 0.125];
  expect(smoothed([1, 2, 3, 4], values, 0.5)).toEqual(values.map((_, index) => by(weights, index)));
  // A missing step weighs as one that was not measured.
  expect(smoothed([1, 3], [1, 0], 0.5)).toEqual([1, 0.25 / 1.25]);
  expect(smoothed([1, 2, 3], [2, Number.NaN, 2], 0.8)).toEqual([2, null, 2]);
  expect(smoothed([1, 2], [3, 7], 0)).toEqual([3, 7]);
});

test('one outlier neither squeezes a curve nor is lost', () => {
  const values = [...Array.from({ length: 200 }, () => 1), 1000];
  expect(rangeOf(values)).toEqual({ low: 0, high: 1.12, beyond: 1000 });
  expect(rangeOf([0, 0])).toEqual({ low: 0, high: 1 });
  expect(rangeOf([])).toEqual({ low: 0, high: 1 });
  expect(rangeOf([-2, -1]).low).toBeLessThan(-2);
});

test('the nearest point is found as a search of all finds it', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 0, max: 1000 }), { minLength: 1 }),
      fc.integer({ min: -10, max: 1010 }),
      (xs, x) => {
        xs.sort((a, b) => a - b);
        const found = Math.abs(xs[nearestIndex(xs, x)]! - x);
        expect(found).toBe(Math.min(...xs.map((one) => Math.abs(one - x))));
      },
    ),
  );
});
