import { describe, expect, test } from 'vitest';
import { Rng } from './rng.ts';
import {
  bootstrapMeanInterval,
  maskedWhiten,
  mean,
  populationStd,
  quantile,
  sampleStd,
  wilsonInterval,
} from './statistics.ts';

describe('mean and standard deviations', () => {
  test('both definitions of the standard deviation', () => {
    expect(mean([1, 0, 0, 0.5])).toBe(0.375);
    expect(sampleStd([1, 0, 0, 0.5])).toBeCloseTo(0.4787, 4);
    expect(populationStd([1, 0, 0, 0.5])).toBeCloseTo(0.4146, 4);
  });

  test('equal values have exactly their mean and no spread, although 0.1 × 3 is not 0.3', () => {
    expect(mean([0.1, 0.1, 0.1])).toBe(0.1);
    expect(sampleStd([0.1, 0.1, 0.1])).toBe(0);
    expect(populationStd([0.1])).toBe(0);
  });

  test('too few values are refused', () => {
    expect(() => mean([])).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The mean is not defined for so few values. Seen: 0. Allowed: at least 1.]`,
    );
    expect(() => sampleStd([1])).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The sample standard deviation is not defined for so few values. Seen: 1. Allowed: at least 2.]`,
    );
  });
});

describe('quantile', () => {
  test('interpolates linearly at q·(n - 1), whatever the order', () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(quantile([1, 2, 3, 4], 0.9)).toBeCloseTo(3.7, 12);
    expect(quantile([1, 2, 3, 4], 0)).toBe(1);
    expect(quantile([1, 2, 3, 4], 1)).toBe(4);
    expect(quantile([7], 0.3)).toBe(7);
  });

  test('refuses a share outside [0, 1]', () => {
    expect(() => quantile([1], 95)).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: A quantile needs a share between 0 and 1. Seen: 95.]`,
    );
  });
});

describe('maskedWhiten', () => {
  test('uses the variance over n - 1 of unmasked values', () => {
    const whitened = maskedWhiten([1, 9, 1, 1, 0, 9, 0, 0], [1, 0, 1, 1, 1, 0, 1, 1]);
    const expected = [0.9129, 0, 0.9129, 0.9129, -0.9129, 0, -0.9129, -0.9129];
    for (const [index, value] of expected.entries()) expect(whitened[index]).toBeCloseTo(value, 4);
    expect(maskedWhiten([1, 1, 1, 0, 0, 0])[0]).toBeCloseTo(0.9129, 4);
  });

  test('no variance gives zeros', () => {
    expect(maskedWhiten([0.1, 0.1, 0.1])).toEqual([0, 0, 0]);
  });

  test('refuses a single value', () => {
    expect(() => maskedWhiten([3, 4], [1, 0])).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Whitening is not defined for so few values. Seen: 1. Allowed: at least 2.]`,
    );
  });
});

describe('intervals', () => {
  test('Wilson, against published values', () => {
    const half = wilsonInterval(5, 10);
    expect(half.low).toBeCloseTo(0.2366, 4);
    expect(half.high).toBeCloseTo(0.7634, 4);
    const none = wilsonInterval(0, 20);
    expect(none.low).toBe(0);
    expect(none.high).toBeCloseTo(0.1611, 4);
    expect(wilsonInterval(20, 20).high).toBe(1);
    expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
  });

  test('bootstrap is near the normal interval, and the same for the same seed', () => {
    const values = Array.from({ length: 400 }, (_, index) => index % 2);
    const interval = bootstrapMeanInterval(values, Rng.of('bootstrap'));
    expect(interval.low).toBeCloseTo(0.451, 2);
    expect(interval.high).toBeCloseTo(0.549, 2);
    expect(bootstrapMeanInterval(values, Rng.of('bootstrap'))).toEqual(interval);
    expect(bootstrapMeanInterval([2.5], Rng.of(1))).toEqual({ low: 2.5, high: 2.5 });
  });
});
