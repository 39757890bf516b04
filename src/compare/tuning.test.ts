import { describe, expect, test } from 'vitest';
import { Rng } from '../core/rng.ts';
import { mean } from '../core/statistics.ts';
import { signFlips } from '../evidence/sign-flips.ts';
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

test('the best rate is that of the largest mean area', () => {
  const tuned = tunedRates(world({ 1: [0.5, 0.6], 2: [0.7, 0.9], 4: [0.7, 0.7] }), 'grpo');
  expect(tuned.map(({ rate }) => rate)).toEqual([2, 4, 1]);
  expect(tuned[0]!.area).toBeCloseTo(0.8, 12);
  expect(tuned[0]!.behind).toEqual({ mean: 0, error: 0 });
  expect(tuned[1]!.behind.mean).toBeCloseTo(0.1, 12);
  expect(tuned[1]!.behind.error).toBeCloseTo(0.1, 12);
  expect(tunedRates(world({ 1: [0.5] }), 'rloo')).toEqual([]);
});

test('every rate that is behind the best by one standard error at most may be the best', () => {
  const near = (areas: Readonly<Record<number, readonly number[]>>) =>
    nearBest(tunedRates(world(areas), 'grpo'));
  expect(near({ 1: [0.5, 0.6], 2: [0.7, 0.9], 4: [0.7, 0.71] })).toEqual([2, 4]);
  // Behind in every seed by nearly as much, however far the seeds lie apart.
  expect(near({ 1: [0.5, 0.6, 0.7], 2: [0.54, 0.65, 0.74] })).toEqual([2]);
  expect(near({ 1: [0.2, 0.6, 0.9], 2: [0.24, 0.65, 0.94] })).toEqual([2]);
  expect(near({ 1: [0.5, 0.6, 0.7], 2: [0.49, 0.68, 0.71] })).toEqual([2, 1]);
  expect(near({ 1: [0.5, 0.5], 2: [0.6, 0.6] })).toEqual([2]);
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

describe('two arms that are equal at every rate', () => {
  const truth = [0, -0.005, -0.01, -0.03, -0.2];
  const draws = 1000;

  /** How often one arm at its best rate leads the other at all rates that may be its best, and how many these are. */
  function falseLeads(seedSpread: number, noise: number): { leads: number; rates: number } {
    const rng = Rng.of('equal arms', String(seedSpread));
    const arms = (seeds: number): number[][][] => {
      const shared = Array.from({ length: seeds }, () => seedSpread * rng.normal());
      return [0, 1].map(() => truth.map((level) => shared.map((one) => one + level + noise * rng.normal())));
    };
    const tuned = (areas: readonly (readonly number[])[]) => tunedRates(world({ ...areas }), 'grpo');
    let [leads, rates] = [0, 0];
    for (let draw = 0; draw < draws; draw++) {
      const [own, other] = arms(3).map((areas) => tuned(areas!)) as [
        ReturnType<typeof tuned>,
        ReturnType<typeof tuned>,
      ];
      const [ownRuns, otherRuns] = arms(12) as [number[][], number[][]];
      const near = nearBest(other);
      rates += near.length;
      const isAhead = near.every((rate) => {
        const differences = ownRuns[own[0]!.rate]!.map((area, seed) => area - otherRuns[rate]![seed]!);
        return mean(differences) > 0 && signFlips(differences, { rng }).p <= 0.05;
      });
      if (isAhead) leads++;
    }
    return { leads: leads / draws, rates: rates / draws };
  }

  // At the best rate alone a lead is found in 4 %, though 2.5 % are nominal: a rate that was chosen wrongly is a handicap.
  test.each([
    [0, 0.05],
    [0.05, 0.05],
    [0.1, 0.03],
  ])('lead each other in less than one of forty draws, with seeds that spread by %d', (seedSpread, noise) => {
    const { leads, rates } = falseLeads(seedSpread, noise);
    expect(leads).toBeLessThan(0.025);
    expect(rates).toBeGreaterThan(2);
    expect(rates).toBeLessThan(2.6);
  });
});
