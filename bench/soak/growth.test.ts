import { expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { growthOf } from './growth.ts';

const weighings = (count: number, at: (index: number) => number): number[] =>
  Array.from({ length: count }, (_, i) => at(i));

test.each([0.001, 0.1, 10])('a process that grows by %d MB a second grows', (rate) => {
  expect(growthOf(weighings(480, (second) => 200 + rate * second)).grows).toBe(true);
});

test('one that grows under noise as wide as what it gains does too', () => {
  const rng = Rng.of('soak');
  const found = growthOf(weighings(480, (second) => 200 + 0.02 * second + 2 * rng.normal()));
  expect(found).toMatchObject({ grows: true, riseMegabytes: expect.closeTo(4.8, 0) });
});

test('one that breathes does not: noise, a collection every minute, and nothing at all', () => {
  const rng = Rng.of('breath');
  expect(growthOf(weighings(480, () => 200 + 5 * rng.normal())).grows).toBe(false);
  expect(growthOf(weighings(480, (second) => 200 + (second % 60))).grows).toBe(false);
  expect(growthOf(weighings(480, () => 200))).toMatchObject({ grows: false, riseMegabytes: 0 });
});

test('too few weighings say nothing', () => {
  expect(() => growthOf(weighings(19, () => 1))).toThrow('19 weighings are too few. Allowed: 20 or more');
});
