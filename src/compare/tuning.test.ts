import { expect, test } from 'vitest';
import { extended, gridAround, nearBest, tunedRates, winningEnd } from './tuning.ts';
import type { WorldResult } from './world-results.ts';

const world = (areas: Readonly<Record<number, readonly number[]>>): WorldResult =>
  ({
    world: 'maze',
    reading: { quantity: 'success', axis: 'episodes', end: 100 },
    arms: Object.entries(areas).map(([rate, values]) => ({
      arm: 'grpo',
      rate: Number(rate),
      seeds: values.map((area, index) => ({ seed: 9001 + index, name: '', figures: { area } })),
    })),
  }) as unknown as WorldResult;

test('five rates around an arm’s own, by factors of two', () => {
  expect(gridAround(0.0005)).toEqual([0.000125, 0.00025, 0.0005, 0.001, 0.002]);
});

test('the best rate is that of the largest mean area, with its standard error', () => {
  const tuned = tunedRates(world({ 1: [0.5, 0.6], 2: [0.7, 0.9], 4: [0.7, 0.7] }), 'grpo');
  expect(tuned.map(({ rate }) => rate)).toEqual([2, 4, 1]);
  expect(tuned[0]!.area).toBeCloseTo(0.8, 12);
  expect(tuned[0]!.error).toBeCloseTo(0.1, 12);
  expect(tunedRates(world({ 1: [0.5] }), 'rloo')).toEqual([]);
});

test('every rate within one standard error of the best may be the best', () => {
  const tuned = tunedRates(world({ 1: [0.5, 0.6], 2: [0.7, 0.9], 4: [0.7, 0.71] }), 'grpo');
  expect(nearBest(tuned)).toEqual([2, 4]);
  expect(nearBest(tunedRates(world({ 1: [0.5, 0.5], 2: [0.6, 0.6] }), 'grpo'))).toEqual([2]);
  expect(nearBest([])).toEqual([]);
});

test('an end of the grid that wins extends it by two', () => {
  const tuned = (best: number) =>
    tunedRates(
      world(Object.fromEntries([1, 2, 4].map((rate) => [rate, [rate === best ? 0.9 : 0.1]]))),
      'grpo',
    );
  expect([1, 2, 4].map((best) => winningEnd(tuned(best)))).toEqual(['low', undefined, 'high']);
  expect(extended([1, 2, 4], 'high')).toEqual([1, 2, 4, 8, 16]);
  expect(extended([1, 3], 'low')).toEqual([0.111111, 0.333333, 1, 3]);
  expect(winningEnd(tunedRates(world({ 1: [0.5] }), 'grpo'))).toBeUndefined();
  expect(winningEnd(tunedRates(world({ 1: [0.5], 2: [0.5] }), 'grpo'))).toBeUndefined();
});
