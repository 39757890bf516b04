import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonProblem } from './json-limits.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value as object).map(depthOf))
    : 0;

test('property: the depth is that of the value, whatever its strings hold', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      const depth = depthOf(value);
      expect(jsonProblem(text, { depth, containers: 1e6 })).toBeUndefined();
      if (depth > 0)
        expect(jsonProblem(text, { depth: depth - 1, containers: 1e6 })).toBe(
          `is nested deeper than ${depth - 1}`,
        );
    }),
  );
});

test('brackets in strings are text, escaped quotes do not end them, and a string without an end is no loop', () => {
  expect(jsonProblem(`{"a":"${'['.repeat(100)}"}`)).toBeUndefined();
  expect(jsonProblem(JSON.stringify({ a: `\\"${'{'.repeat(100)}\\` }))).toBeUndefined();
  expect(jsonProblem('"never ends \\"')).toBeUndefined();
});

test('60 MB of brackets are refused at once, side by side or nested', () => {
  const began = performance.now();
  expect(jsonProblem('['.repeat(60e6))).toBe('is nested deeper than 64');
  expect(jsonProblem(`[${'[],'.repeat(20e6)}[]]`)).toBe('has more than 500000 lists and objects');
  expect(performance.now() - began).toBeLessThan(2000);
});
