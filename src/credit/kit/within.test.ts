import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  both,
  compareWithin,
  type Partition,
  partition,
  statisticsWithin,
  withoutSingles,
} from './within.ts';

const keys = fc.array(fc.integer({ min: -1, max: 4 }), { minLength: 1, maxLength: 30 });
const parts = (numbers: readonly number[]): Partition => ({ keys: Int32Array.from(numbers), count: 5 });

test('both: items are together exactly when they are together in each', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: -1, max: 4 }), fc.integer({ min: -1, max: 4 }))),
      (pairs) => {
        const first = parts(pairs.map(([a]) => a));
        const second = parts(pairs.map(([, b]) => b));
        const joint = both(first, second);
        expect(Math.max(-1, ...joint.keys)).toBeLessThan(Math.max(joint.count, 0));
        for (const [i, [a, b]] of pairs.entries()) {
          expect(joint.keys[i] === -1).toBe(a < 0 || b < 0);
          for (const [j, [c, d]] of pairs.entries()) {
            if (joint.keys[i]! >= 0) expect(joint.keys[i] === joint.keys[j]).toBe(a === c && b === d);
          }
        }
      },
    ),
  );
});

test('without singles, the others stay together as they were', () => {
  fc.assert(
    fc.property(keys, (numbers) => {
      const left = withoutSingles(parts(numbers));
      expect(Math.max(-1, ...left.keys)).toBe(left.count - 1);
      for (const [i, key] of numbers.entries()) {
        const isAlone = key < 0 || numbers.filter((other) => other === key).length === 1;
        expect(left.keys[i] === -1).toBe(isAlone);
        if (!isAlone)
          for (const [j, other] of numbers.entries())
            expect(left.keys[i] === left.keys[j]).toBe(key === other);
      }
    }),
  );
});

test('comparing equal values gives exactly 0, and none for items in no part', () => {
  fc.assert(
    fc.property(keys, fc.double({ min: -10, max: 10, noNaN: true }), (numbers, value) => {
      const compared = compareWithin(new Float64Array(numbers.length).fill(value), parts(numbers), {
        spread: 'sample',
        epsilon: 1e-6,
      });
      expect(compared.every((one) => one === 0)).toBe(true);
    }),
  );
});

test('spreads, and a value alone', () => {
  const { keys: same, count } = partition(['x', 'x', 'y'], (item) => item);
  const compare = (spread: 'sample' | 'population' | 'none', single: 'zero' | 'keep' = 'zero') => [
    ...compareWithin([1, 3, 7], { keys: same, count }, { spread, epsilon: 0, single }),
  ];
  expect(compare('none')).toEqual([-1, 1, 0]);
  expect(compare('population')).toEqual([-1, 1, 0]);
  expect(compare('sample').map((one) => one.toFixed(3))).toEqual(['-0.707', '0.707', '0.000']);
  expect(compare('none', 'keep')).toEqual([-1, 1, 7]);
  expect([...statisticsWithin([1, 3, 7], { keys: same, count }).means]).toEqual([2, 7]);
});

test('differences that rounding made are none', () => {
  // Each is log 2 but for its last bits.
  const values = [
    Math.log(0.2) - Math.log(0.1),
    Math.log(0.6) - Math.log(0.3),
    Math.log(0.14) - Math.log(0.07),
  ];
  expect(new Set(values).size).toBeGreaterThan(1);
  const parts = { keys: Int32Array.of(0, 0, 0), count: 1 };
  const scores = compareWithin(values, parts, { spread: 'sample', epsilon: Number.MIN_VALUE });
  expect([...scores].map(Math.abs)).toEqual([0, 0, 0]);
});
