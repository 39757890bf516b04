/** Rewards from pairs: worked numbers, and the gradient held to finite differences of the real loss. */

import { expect, test } from 'vitest';
import { bradleyTerry } from './critic/bradley-terry.ts';
import { evaluateStep } from './testing/evaluate.ts';

const sequences = [0, 1, 2, 3].map((row) => ({ rows: [row], reward: 0 }));
const pairs = [
  [0, 1],
  [2, 3],
] as const;

/** A step of four sequences, each with its reward at its one token. */
const stepOf = (rewards: readonly number[]) => ({
  rows: rewards.map((reward) => ({ weight: [1], 'head reward': [reward] })),
  heads: { reward: rewards.map((reward) => [reward]) },
  sequences,
  pairs,
});

test('the loss is the mean of -log σ(margin), and slopes are -σ(-margin) over the pairs', async () => {
  const got = await evaluateStep(bradleyTerry({ centring: 0 }), stepOf([1, 0, -0.5, 0.5]));
  const loss = (Math.log1p(Math.exp(-1)) + Math.log1p(Math.exp(1))) / 2;
  expect(got.loss).toBeCloseTo(loss, 6);
  expect(got.metrics).toEqual({ 'preference/accuracy': 0.5, 'preference/margin': 0 });
  const slope = 1 / (1 + Math.exp(1)) / 2;
  const other = 1 / (1 + Math.exp(-1)) / 2;
  for (const [index, expected] of [-slope, slope, -other, other].entries())
    expect(got.gradients['head reward']![index]!).toBeCloseTo(expected, 6);
});

test('equal rewards count half, and centring pulls their sum to 0', async () => {
  const got = await evaluateStep(bradleyTerry({ centring: 0.1 }), stepOf([2, 2, 0, 0]));
  expect(got.metrics['preference/accuracy']).toBe(0.5);
  expect(got.loss).toBeCloseTo(Math.log(2) + (0.1 * 16) / 2, 6);
});

test('the gradient agrees with finite differences, centring among them', async () => {
  const rewards = [0.3, -0.2, 0.9, 1.4];
  const lossAt = async (moved: readonly number[]) => (await evaluateStep(bradleyTerry(), stepOf(moved))).loss;
  const { gradients } = await evaluateStep(bradleyTerry(), stepOf(rewards));
  for (const place of rewards.keys()) {
    const by = (width: number) =>
      lossAt(rewards.map((reward, index) => (index === place ? reward + width : reward)));
    expect(gradients['head reward']![place]!).toBeCloseTo(((await by(0.01)) - (await by(-0.01))) / 0.02, 4);
  }
});

test('a step without pairs, and a reward that is not finite, are refused', async () => {
  await expect(evaluateStep(bradleyTerry(), stepOf([Number.NaN, 0, 0, 0]))).rejects.toThrow(
    'the reward of sequence 0',
  );
});
