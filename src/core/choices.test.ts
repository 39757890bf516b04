import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allowedAt, arePrefixFree, ChoiceWalk, isForced } from './choices.ts';

const choices = [Int32Array.of(4, 2), Int32Array.of(5, 7, 2), Int32Array.of(5, 6, 2)];

test('a walk says what may come next, and nothing more at the end of a choice', () => {
  const walk = new ChoiceWalk(choices);
  const seen: number[][] = [[...walk.next()]];
  for (const id of [5, 7, 2]) {
    walk.take(id);
    seen.push([...walk.next()]);
  }
  expect(seen).toEqual([[4, 5], [6, 7], [2], []]);
});

test('what tokens were chosen among, and which were forced', () => {
  const allowed = allowedAt(choices, [5, 6, 2]);
  expect(allowed.map((ids) => [...ids])).toEqual([[4, 5], [6, 7], [2]]);
  expect(allowed.map(isForced)).toEqual([false, false, true]);
  expect([isForced(null), isForced(undefined)]).toEqual([false, false]);
});

test('a choice that is another, or its beginning, is found wherever it stands', () => {
  expect(arePrefixFree(choices)).toBe(true);
  const sequence = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(sequence, { minLength: 1, maxLength: 6 }), (lists) => {
      const begins = (a: readonly number[], b: readonly number[]) => a.every((id, at) => b[at] === id);
      const clash = lists.some((a, i) => lists.some((b, j) => i !== j && begins(a, b)));
      expect(arePrefixFree(lists.map((list) => Int32Array.from(list)))).toBe(!clash);
    }),
  );
});
