import { expect, test } from 'vitest';
import type { CreditedSample } from './batch.ts';
import { extendedEntropies, withSmoothing } from './entropy-channels.ts';

/** One sample whose first, third and fourth token were sampled, in turns 0, 1 and 1. */
const item = { sample: { turn_T: Int32Array.of(0, -1, 1, 1) } } as unknown as CreditedSample;
const scored = (...entropies: number[]) => [{ entropies: [Float32Array.from(entropies)] }];

test('the history is the mean over steps of the mean entropy of each turn, and is read before it is extended', () => {
  const first = withSmoothing([item], [], { step: 1, planned: 10 })[0]!.channels!;
  expect([...first.historicEntropies!]).toEqual([0, 0, 0, 0]);
  expect([...first.smoothing!]).toEqual([0, 0, 0, 0]);
  const once = extendedEntropies([], [item.sample], scored(1, 9, 0.5, 1.5));
  const twice = extendedEntropies(once, [item.sample], scored(3, 9, 2, 2));
  const after = withSmoothing([item], twice, { step: 1, planned: 10 })[0]!.channels!;
  expect([...after.historicEntropies!]).toEqual([2, 0, 1.5, 1.5]);
  expect([...after.smoothing!]).toEqual([1, 0, 1, 1]);
});

test('forced tokens, which have no entropy, do not lower the mean of a turn', () => {
  const allowed_T = [Int32Array.of(4, 5), null, Int32Array.of(6, 7), Int32Array.of(2)];
  const sample = { ...item.sample, allowed_T };
  expect(extendedEntropies([], [sample], scored(0.4, 9, 0.6, 0))).toEqual([
    { mean: expect.closeTo(0.4, 6), iterations: 1 },
    { mean: expect.closeTo(0.6, 6), iterations: 1 },
  ]);
});
