import { expect, test } from 'vitest';
import { type CurvePoint, meanValue, spentToReach, valueAt } from './learning-curve.ts';

const curve: CurvePoint[] = [
  { spent: 0, value: 0.4 },
  { spent: 100, value: 0.6 },
  { spent: 300, value: 1 },
];

test('the level between evaluations, and beyond the ends', () => {
  expect([0, 50, 100, 200, 300, 400].map((spent) => valueAt(curve, spent))).toEqual([
    0.4, 0.5, 0.6, 0.8, 1, 1,
  ]);
});

test('the mean along the way is the area divided by the width', () => {
  expect(meanValue(curve, 300)).toBeCloseTo((0.5 * 100 + 0.8 * 200) / 300, 12);
  expect(meanValue(curve, 200)).toBeCloseTo((0.5 * 100 + 0.7 * 100) / 200, 12);
  expect(meanValue(curve, 0)).toBe(0.4);
});

test('what it took to reach a level', () => {
  expect(spentToReach(curve, 0.8)).toBeCloseTo(200, 9);
  expect(spentToReach(curve, 0.3)).toBe(0);
  expect(spentToReach(curve, 1.1)).toBeUndefined();
});
