import { expect, test } from 'vitest';
import type { CreditTrajectory } from '../report/rollouts.ts';
import { composeCredit } from './shapings.ts';

const trajectory = (
  id: string,
  outcome: number,
  dense_K: readonly (readonly number[])[],
): CreditTrajectory => ({
  id,
  groupId: id,
  role: 'agent',
  outcome,
  turns: dense_K.map((dense, k) => ({
    reward: k === dense_K.length - 1 ? outcome : 0,
    tokens: 1,
    ...(dense.length > 0 && { dense }),
  })),
});

const advantages = (options: object, shape: object, ...trajectories: CreditTrajectory[]) =>
  composeCredit({ method: 'reinforce', options, shape: shape as never })
    .credit(trajectories, {})
    .credits.map(({ turnAdvantages_K }) => [...turnAdvantages_K]);

test('what turns earned on the way joins their rewards, and so the returns of those before them', () => {
  const one = trajectory('one', 1, [[0.5], [-0.25, 0.05], []]);
  const [plain] = advantages({ gamma: 0.5 }, {}, one);
  expect(plain).toEqual([0.25, 0.5, 1]);
  const [shaped] = advantages({ gamma: 0.5 }, { dense: { weight: 2 } }, one);
  // Rewards 1, -0.4, 1: returns 1 + 0.5·0.1, -0.4 + 0.5, 1.
  expect(shaped!.map((value) => Math.round(1000 * value) / 1000)).toEqual([1.05, 0.1, 1]);
});

test('returns over the mean and the deviation of the batch are of mean 0 and variance 1, over all turns', () => {
  const whole = advantages(
    { gamma: 0.5, baseline: 'batch', scale: 'batch' },
    { dense: {} },
    trajectory('one', 1, [[0.5], [0.5]]),
    trajectory('two', 0, [[0.25], [-1], [0]]),
  ).flat();
  const mean = whole.reduce((sum, value) => sum + value, 0) / 5;
  expect(mean).toBeCloseTo(0, 9);
  expect(whole.reduce((sum, value) => sum + value ** 2, 0) / 5).toBeCloseTo(1, 5);
});
