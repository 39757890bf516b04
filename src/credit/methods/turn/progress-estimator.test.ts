import { expect, test } from 'vitest';
import { Rng } from '../../../core/rng.ts';
import { turnStarts } from '../../kit/turns.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { attributeProgress, attributionError, type EstimatorState } from './progress-estimator.ts';

const options = { ridge: 0.1, decay: 0.95, buckets: 63 };

/** Ten wanderings through five rooms; picking the key up pays 1, once, and nothing else does anything. */
function wanderings(seed: number): CreditTrajectory[] {
  const rng = Rng.of('wanderings', seed);
  return Array.from({ length: 64 }, (_, index) => {
    const rooms = Array.from({ length: 8 }, () => `room ${rng.int(5)}`);
    const at = rng.chance(0.5) ? rng.int(7) : -1;
    if (at >= 0) rooms.splice(at, 2, 'before the key', 'with the key');
    return {
      id: `${seed}/${index}`,
      groupId: 'g',
      role: 'agent',
      outcome: at >= 0 ? 1 : 0,
      turns: rooms.map((anchor) => ({ reward: 0, tokens: 1, anchor })),
    };
  });
}

test('the turn that made the progress gets the most of it', () => {
  let state: EstimatorState | undefined;
  for (let step = 0; step < 10; step++) state = attributeProgress(wanderings(step), options, state).state;
  const fresh = wanderings(99);
  const { contributions: flat } = attributeProgress(fresh, options, state);
  const starts = turnStarts(fresh);
  const contributions = fresh.map((_, index) => flat.subarray(starts[index]!, starts[index + 1]!));
  let found = 0;
  let successes = 0;
  for (const [index, { turns, outcome }] of fresh.entries()) {
    if (outcome === 0) continue;
    successes++;
    const key = turns.findIndex(({ anchor }) => anchor === 'before the key');
    const best = contributions[index]!.indexOf(Math.max(...contributions[index]!));
    // Rooms that lead to and from the key are signs of it too: one of the turns beside it may be taken for it.
    if (Math.abs(best - key) <= 1) found++;
  }
  expect(found / successes).toBeGreaterThan(0.9);
  const error = contributions.reduce(
    (sum, given, index) => sum + attributionError(given, fresh[index]!.outcome),
    0,
  );
  expect(error / fresh.length).toBeLessThan(0.05);
});

test('with features the weights are those of the least squares', () => {
  const rng = Rng.of('features');
  const trajectories = Array.from({ length: 50 }, (_, index): CreditTrajectory => {
    const turns = Array.from({ length: 3 }, () => ({
      reward: 0,
      tokens: 1,
      features: [rng.next(), rng.next()],
    }));
    const outcome = turns.reduce((sum, { features }) => sum + 2 * features[0]! - features[1]!, 0);
    return { id: `${index}`, groupId: 'g', role: 'agent', outcome, turns };
  });
  const { contributions } = attributeProgress(trajectories, { ...options, ridge: 1e-6 }, undefined);
  for (const [index, { turns }] of trajectories.entries()) {
    for (const [k, { features }] of turns.entries()) {
      expect(contributions[3 * index + k]).toBeCloseTo(2 * features![0]! - features![1]!, 4);
    }
  }
});

test('the state is plain JSON, and another number of features begins anew', () => {
  const { state } = attributeProgress(wanderings(1), options, undefined);
  expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  const narrow = attributeProgress(wanderings(1), { ...options, buckets: 7 }, state);
  expect(narrow).toEqual(attributeProgress(wanderings(1), { ...options, buckets: 7 }, undefined));
});

test('what cannot be described is refused', () => {
  const bare: CreditTrajectory = {
    id: 'a',
    groupId: 'g',
    role: 'agent',
    outcome: 1,
    turns: [{ reward: 0, tokens: 1 }],
  };
  expect(() => attributeProgress([bare], options, undefined)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: spa-rl needs turns[0].progress, which trajectory "a" does not have. Allowed: Share of the outcome that an estimator attributes to the turn. Or give turns[].features or turns[].anchor of every turn, for the estimator.]`,
  );
  const uneven = {
    ...bare,
    turns: [
      { reward: 0, tokens: 1, features: [1] },
      { reward: 0, tokens: 1, features: [1, 2] },
    ],
  };
  expect(() => attributeProgress([uneven], options, undefined)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: turns[1] of trajectory "a" is described by another number of features than the first turn of the batch. Seen: 2. Allowed: 1. Give every turn of the batch equally many turns[].features, or none.]`,
  );
});
