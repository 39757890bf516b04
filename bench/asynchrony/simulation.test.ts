import { expect, test } from 'vitest';
import { simulate } from './simulation.ts';

const steps = [
  [2, 2, 2, 2],
  [2, 2, 2, 2],
  [2, 2, 2, 2],
];

test('synchronous: acting and learning take turns', () => {
  expect(simulate({ steps, learning: 4, slots: 2, maxStaleness: 0 })).toEqual([8, 16, 24]);
});

test('stale by 1: a step is played while the one before is learned', () => {
  expect(simulate({ steps, learning: 4, slots: 2, maxStaleness: 1 })).toEqual([8, 12, 16]);
  // Acting takes longer: learning waits for it, and slots are never idle.
  expect(simulate({ steps, learning: 1, slots: 2, maxStaleness: 1 })).toEqual([5, 9, 13]);
  // Learning takes longer: a step is asked for when the one two before it is learned.
  expect(simulate({ steps, learning: 9, slots: 2, maxStaleness: 1 })).toEqual([13, 22, 31]);
});

test('one long episode holds up its step alone where later ones may begin', () => {
  const uneven = [
    [9, 1],
    [1, 1],
  ];
  expect(simulate({ steps: uneven, learning: 1, slots: 2, maxStaleness: 0 })).toEqual([10, 12]);
  expect(simulate({ steps: uneven, learning: 1, slots: 2, maxStaleness: 1 })).toEqual([10, 11]);
});
