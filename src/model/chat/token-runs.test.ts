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

test('arrays that lie one behind the other in a buffer are one run, also for those that were cut before', () => {
  const { buffer } = Int32Array.from({ length: 40 }, (_, index) => index);
  const part = (from: number, to: number) => new Int32Array(buffer, 4 * from, to - from);
  const first = TokenRuns.none.with(part(0, 10));
  const longer = first.with(part(10, 12), part(12, 20));
  const cut = longer.upTo(15);
  const [again, elsewhere] = [cut.with(part(15, 18)), cut.with(part(30, 32))];
  expect([...first.toArray()]).toEqual([...part(0, 10)]);
  expect([...longer.toArray()]).toEqual([...part(0, 20)]);
  expect([...cut.toArray()]).toEqual([...part(0, 15)]);
  expect([...again.toArray()]).toEqual([...part(0, 18)]);
  expect([...elsewhere.toArray()]).toEqual([...part(0, 15), 30, 31]);
  expect(longer.agrees(8, [...part(8, 20), 20])).toBe(12);
  expect(cut.agrees(14, [14, 15])).toBe(1);
  expect(elsewhere.agrees(14, [14, 30, 31])).toBe(3);
});

test('what goes on from the end shares its runs, and copies none of its tokens', () => {
  const before = handled.tokens;
  let runs = TokenRuns.none;
  for (let turn = 0; turn < 1000; turn++) runs = runs.with(Int32Array.of(1, 2), [3]);
  expect(runs).toHaveLength(3000);
  expect(handled.tokens).toBe(before);
});
