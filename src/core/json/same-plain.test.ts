import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { samePlain } from './same-plain.ts';

const value = fc.anything({
  key: fc.constantFrom('a', 'b', 'c'),
  maxDepth: 3,
  values: [fc.constantFrom(0, -0, Number.NaN, 1, 'a', '', null, undefined, true)],
  withNullPrototype: false,
});

test('values are the same exactly where Node finds them deeply and strictly equal', () => {
  void fc.assert(
    fc.property(value, value, (a, b) => {
      expect(samePlain(a, b)).toBe(isDeepStrictEqual(a, b));
      expect(samePlain(a, structuredClone(a))).toBe(true);
    }),
  );
});

test('the order of keys makes no difference', () => {
  expect(samePlain({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true);
  expect(samePlain({ a: 1, b: undefined }, { a: 1 })).toBe(false);
});
