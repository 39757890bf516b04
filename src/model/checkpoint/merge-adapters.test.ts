import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Rng } from '../../core/rng.ts';
import { drawMixture, mergeAdapters, type NamedWeights } from './merge-adapters.ts';

const weights = (a: readonly number[], b: readonly number[] = []): NamedWeights =>
  new Map([
    ['a', Float32Array.from(a)],
    ['b', Float32Array.from(b)],
  ]);

test('a weighted mean of differences from the base', () => {
  const base = weights([1, 1], [2]);
  const parents = [weights([2, 1], [2]), weights([1, 5], [4])];
  expect(mergeAdapters(parents, [3, 1], { base })).toEqual(weights([1.75, 2], [2.5]));
  expect(mergeAdapters(parents, [1, 1])).toEqual(weights([1.5, 3], [3]));
  expect(parents).toEqual([weights([2, 1], [2]), weights([1, 5], [4])]);
});

test('properties: one parent is itself, equal parents too, and the order does not matter', () => {
  const numbers = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 3, maxLength: 3 });
  const mixture = fc.double({ min: 0.1, max: 2, noNaN: true });
  fc.assert(
    fc.property(numbers, numbers, mixture, mixture, (first, second, left, right) => {
      const [one, other] = [weights(first), weights(second)];
      expect(mergeAdapters([one], [left])).toEqual(one);
      for (const [index, value] of mergeAdapters([one, one], [left, right]).get('a')!.entries()) {
        expect(value).toBeCloseTo(first[index]!, 4);
      }
      const forth = mergeAdapters([one, other], [left, right]).get('a')!;
      const back = mergeAdapters([other, one], [right, left]).get('a')!;
      for (const [index, value] of forth.entries()) expect(value).toBeCloseTo(back[index]!, 4);
    }),
  );
});

test('mixtures lie around 1 and are the same for the same stream', () => {
  const drawn = drawMixture(1000, Rng.of('merge'), 0.01);
  expect(drawn).toEqual(drawMixture(1000, Rng.of('merge'), 0.01));
  expect(drawn.reduce((sum, one) => sum + one, 0) / 1000).toBeCloseTo(1, 2);
  expect(drawMixture(2, Rng.of('merge'), 0)).toEqual([1, 1]);
});

test('what does not fit is refused', () => {
  expect(() => mergeAdapters([weights([1])], [1, 2])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Merging needs one weight for each of its parents, and a sum that can be divided by. Seen: 1 parents, weights 1, 2. Allowed: as many finite weights as parents, whose sum is not 0.]`,
  );
  expect(() => mergeAdapters([weights([1]), weights([1])], [1, -1])).toThrow('a sum that can be divided by');
  expect(() => mergeAdapters([], [])).toThrow('one weight for each');
  expect(() => mergeAdapters([weights([1]), weights([1, 2])], [1, 1])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Only weights of the same names and sizes can be merged, and "a" differs. Seen: 2 numbers. Allowed: 1 numbers.]`,
  );
  expect(() => mergeAdapters([weights([1])], [1], { base: new Map() })).toThrow('"a" differs');
});
