import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, findNonJson, type Json } from './json.ts';

test('canonical JSON sorts keys at every depth and leaves the order of lists', () => {
  expect(canonicalJson({ b: [2, 1], a: { d: null, c: 'x"' } })).toBe('{"a":{"c":"x\\"","d":null},"b":[2,1]}');
  expect(canonicalJson({ a: undefined as unknown as Json, b: 1 })).toBe('{"b":1}');
});

test('property: canonical JSON is JSON of the same value, whatever the order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // -0 becomes 0 in JSON.
      const plain = JSON.parse(JSON.stringify(value)) as Json;
      const text = canonicalJson(plain);
      expect(JSON.parse(text)).toEqual(plain);
      if (plain !== null && typeof plain === 'object' && !Array.isArray(plain)) {
        expect(canonicalJson(Object.fromEntries(Object.entries(plain).reverse()))).toBe(text);
      }
      expect(findNonJson(plain)).toBeUndefined();
    }),
  );
});

test('what JSON cannot hold is found by its path', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  expect(findNonJson({ a: [1, { b: Number.NaN }] })).toBe('$.a[1].b');
  expect(findNonJson({ at: new Date() })).toBe('$.at');
  expect(findNonJson([() => 1])).toBe('$[0]');
  expect(findNonJson([undefined])).toBe('$[0]');
  expect(findNonJson(cycle)).toBe('$.self');
  expect(findNonJson(new Map())).toBe('$');
});

test('the same object twice is no cycle', () => {
  const shared = { x: 1 };
  expect(findNonJson({ a: shared, b: shared })).toBeUndefined();
});
