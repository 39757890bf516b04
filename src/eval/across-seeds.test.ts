import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Rng } from '../core/rng.ts';
import { mean, quantile } from '../core/statistics.ts';
import { bootstrapInterval, interquartileMean, pairedDifference } from './across-seeds.ts';

const numbers = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 1, maxLength: 12 });

describe('interquartileMean', () => {
  test('known values', () => {
    // A quarter of 12 is 3: the middle six are 5, 6, 6, 7, 7, 8.
    expect(interquartileMean([5, 8, 4, 38, 8, 6, 9, 7, 7, 3, 1, 6])).toBe(6.5);
    // A quarter of 9 is 2.25: (0.75 × 5 + 7 + 9 + 11 + 0.75 × 13) / 4.5.
    expect(interquartileMean([1, 3, 5, 7, 9, 11, 13, 15, 17])).toBe(9);
    // Five runs: (0.75 × 2 + 3 + 0.75 × 10) / 2.5.
    expect(interquartileMean([1, 2, 3, 10, 100])).toBeCloseTo(4.8, 12);
    expect(interquartileMean([4])).toBe(4);
    expect(interquartileMean([1, 2])).toBe(1.5);
  });

  test('lies between the quartiles’ neighbours, and does not mind order or shifts', () => {
    fc.assert(
      fc.property(numbers, fc.double({ min: -5, max: 5, noNaN: true }), (values, shift) => {
        const result = interquartileMean(values);
        expect(result).toBeGreaterThanOrEqual(quantile(values, 0) - 1e-9);
        expect(result).toBeLessThanOrEqual(quantile(values, 1) + 1e-9);
        expect(interquartileMean([...values].reverse())).toBeCloseTo(result, 9);
        expect(interquartileMean(values.map((value) => value + shift))).toBeCloseTo(result + shift, 9);
      }),
    );
  });

  test('refuses nothing', () => {
    expect(() => interquartileMean([])).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: A statistic over seeds needs at least one run. Seen: 0 values. Allowed: at least 1.]`,
    );
  });
});

describe('bootstrapInterval', () => {
  test('the same generator gives the same interval, and it holds the statistic', () => {
    const values = [0.9, 0.8, 0.95, 0.7, 0.85];
    const interval = bootstrapInterval(values, mean, Rng.of('a'));
    expect(bootstrapInterval(values, mean, Rng.of('a'))).toEqual(interval);
    expect(interval.low).toBeLessThan(mean(values));
    expect(interval.high).toBeGreaterThan(mean(values));
  });

  test('of the mean, it is as wide as theory says', () => {
    const rng = Rng.of('normal');
    const values = Array.from({ length: 200 }, () => rng.normal());
    const { low, high } = bootstrapInterval(values, mean, Rng.of('b'), 4000);
    expect((high - low) / 2).toBeCloseTo(1.96 / Math.sqrt(200), 1);
  });

  test('of two values the exact one: means are the ends with 1/4 each', () => {
    expect(bootstrapInterval([0, 1], mean, Rng.of('c'))).toEqual({ low: 0, high: 1 });
    expect(bootstrapInterval([0.5, 0.5, 0.5], mean, Rng.of('c'))).toEqual({ low: 0.5, high: 0.5 });
  });
});

describe('pairedDifference', () => {
  test('what a seed does to both cancels', () => {
    const seeds = [0.1, 0.9, 0.3, 0.7, 0.5];
    const better = seeds.map((value) => value + 0.05);
    const { difference, interval } = pairedDifference(seeds, better, interquartileMean, Rng.of('d'));
    expect(difference).toBeCloseTo(0.05, 12);
    expect(interval.low).toBeCloseTo(0.05, 12);
    expect(interval.high).toBeCloseTo(0.05, 12);
  });

  test('unpaired noise stays', () => {
    const { interval } = pairedDifference([0, 1, 0, 1, 0], [1, 0, 1, 0, 1], mean, Rng.of('e'));
    expect(interval.low).toBeLessThan(0);
    expect(interval.high).toBeGreaterThan(0);
  });

  test('refuses what has no partner', () => {
    expect(() => pairedDifference([1, 2], [1], mean, Rng.of('f'))).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: A paired difference needs two values of every pair. Seen: 2 and 1 values. Allowed: equal numbers.]`,
    );
  });
});
