/** Runs of tokens read like one array, whatever goes on from them. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { handled, TokenRuns } from './token-runs.ts';

test('property: cut, continued and compared, they are what arrays would be, and none changes another', () => {
  const steps = fc.array(
    fc.record({
      from: fc.nat(),
      cut: fc.nat(12),
      parts: fc.array(fc.array(fc.nat(2), { maxLength: 4 }), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(steps, fc.nat(12), fc.array(fc.nat(2), { maxLength: 8 }), (all, place, ids) => {
      const made: { runs: TokenRuns; array: number[] }[] = [{ runs: TokenRuns.none, array: [] }];
      for (const { from, cut, parts } of all) {
        const before = made[from % made.length]!;
        const runs = before.runs.upTo(cut).with(...parts);
        made.push({ runs, array: [...before.array.slice(0, cut), ...parts.flat()] });
      }
      for (const { runs, array } of made) {
        expect(runs).toHaveLength(array.length);
        expect([...runs.toArray()]).toEqual(array);
        const most = Math.min(place, array.length);
        expect([...runs.toArray(most, 2)]).toEqual([...array.slice(0, most), 0, 0]);
        let shared = 0;
        while (shared < ids.length && most + shared < array.length && ids[shared] === array[most + shared])
          shared++;
        expect(runs.agrees(most, ids)).toBe(shared);
      }
    }),
    { numRuns: 300 },
  );
});

test('what goes on from the end shares its runs, and copies none of its tokens', () => {
  const before = handled.tokens;
  let runs = TokenRuns.none;
  for (let turn = 0; turn < 1000; turn++) runs = runs.with(Int32Array.of(1, 2), [3]);
  expect(runs).toHaveLength(3000);
  expect(handled.tokens).toBe(before);
});
