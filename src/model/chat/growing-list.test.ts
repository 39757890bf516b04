/** Lists that share their items read like arrays, whatever goes on from them. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingList } from './growing-list.ts';
import { handled } from './token-runs.ts';

test('property: cut and continued, they are what arrays would be, and none changes another', () => {
  const steps = fc.array(
    fc.record({ from: fc.nat(), cut: fc.nat(12), more: fc.array(fc.nat(2), { maxLength: 4 }) }),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const made: { list: GrowingList<number>; array: number[] }[] = [
        { list: GrowingList.of<number>(), array: [] },
      ];
      for (const { from, cut, more } of all) {
        const before = made[from % made.length]!;
        const list = before.list.upTo(cut).with(...more);
        made.push({ list, array: [...before.array.slice(0, cut), ...more] });
        expect(list.goesOnFrom(before.list) && list.length < before.list.length).toBe(false);
      }
      for (const { list, array } of made) {
        expect([list.length, [...list], list.toArray()]).toEqual([array.length, array, array]);
        for (let index = -6; index < 16; index++) expect(list.at(index)).toBe(array.at(index));
        for (const other of made) {
          if (!list.goesOnFrom(other.list)) continue;
          expect(array.slice(0, other.array.length)).toEqual(other.array);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('a list that is continued a thousand times copies nothing, also where it is continued twice in the same way', () => {
  const before = handled.items;
  let list = GrowingList.of<object>();
  for (let turn = 0; turn < 1000; turn++) {
    const [shown, said] = [{ turn }, { turn }];
    list.with(shown);
    list = list.with(shown).with(said);
  }
  expect(list).toHaveLength(2000);
  expect(handled.items - before).toBe(3000);
});
