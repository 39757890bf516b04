import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hash32, Rng } from './rng.ts';

const draws = (rng: Rng, count: number): number[] => Array.from({ length: count }, () => rng.next());

test('xoshiro128** gives the published first values of the state 1, 2, 3, 4', () => {
  const rng = new Rng([1, 2, 3, 4]);
  expect([rng.uint32(), rng.uint32(), rng.uint32(), rng.uint32()]).toEqual([11520, 0, 5927040, 70819200]);
});

test('a name is a stream: the same keys give the same one for ever, others another', () => {
  expect(Rng.of('tasks', 1, 2).uint32()).toMatchInlineSnapshot(`429604460`);
  expect(draws(Rng.of('a', 1), 4)).toEqual(draws(Rng.of('a', 1), 4));
  expect(draws(Rng.of('a', 1), 4)).not.toEqual(draws(Rng.of('a', 2), 4));
  // Keys do not run together.
  expect(draws(Rng.of('a', 12), 4)).not.toEqual(draws(Rng.of('a', 1, 2), 4));
});

test('a state continues where it was taken, and a fork leaves its origin alone', () => {
  const rng = Rng.of('state');
  rng.next();
  const twin = new Rng(rng.state);
  const fork = rng.fork('x');
  fork.next();
  expect(draws(rng, 5)).toEqual(draws(twin, 5));
  expect(draws(Rng.of('state').fork('x'), 3)).not.toEqual(draws(Rng.of('state').fork('y'), 3));
});

test('draws are spread as they should be', () => {
  const rng = Rng.of('spread');
  const counts = new Array<number>(7).fill(0);
  for (let i = 0; i < 14_000; i++) counts[rng.int(7)]!++;
  // Five standard deviations of a count of 2000.
  for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(5 * Math.sqrt(2000 * (6 / 7)));
  const normals = Array.from({ length: 10_000 }, () => rng.normal());
  const mean = normals.reduce((sum, x) => sum + x, 0) / normals.length;
  const variance = normals.reduce((sum, x) => sum + (x - mean) ** 2, 0) / normals.length;
  expect(Math.abs(mean)).toBeLessThan(0.05);
  expect(Math.abs(variance - 1)).toBeLessThan(0.07);
});

test('property: a shuffle keeps the items and leaves the list alone', () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), fc.string(), (items, seed) => {
      const before = [...items];
      const shuffled = Rng.of(seed).shuffle(items);
      expect(items).toEqual(before);
      expect(shuffled.sort((a, b) => a - b)).toEqual([...items].sort((a, b) => a - b));
    }),
  );
});

test('nothing can be picked from nothing', () => {
  expect(() => Rng.of(1).pick([])).toThrow(RangeError);
});

test('a hash changes in half its bits with one character', () => {
  const flips = Array.from({ length: 200 }, (_, i) => {
    let bits = (hash32(`map ${i}`) ^ hash32(`map ${i}x`)) >>> 0;
    let count = 0;
    for (; bits > 0; bits >>>= 1) count += bits & 1;
    return count;
  });
  const mean = flips.reduce((sum, count) => sum + count, 0) / flips.length;
  expect(Math.abs(mean - 16)).toBeLessThan(1);
});
