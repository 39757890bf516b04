/** The small objectives: cross-entropy, policy gradient, value loss, and their sum. */

import { describe, expect, test } from 'vitest';
import { combine } from './contract/combine.ts';
import { atTargets, explainedVariance, valueLoss } from './critic/value.ts';
import { crossEntropy } from './imitation/cross-entropy.ts';
import { policyGradient } from './policy-gradient/policy-gradient.ts';
import { ppoClip } from './policy-gradient/ppo-clip.ts';
import { evaluate, evaluateToyPolicy } from './testing/evaluate.ts';

test('cross-entropy: loss, probability, and softmax minus one-hot as gradient', async () => {
  const got = await evaluateToyPolicy(crossEntropy(), [0, 0, 0, Math.log(2), 0, 0], [1, 0], {
    weight: [0.5, 0.5],
  });
  expect(got.loss).toBeCloseTo((Math.log(3) + Math.log(2)) / 2, 6);
  expect(got.metrics['clone/probability']).toBeCloseTo((1 / 3 + 1 / 2) / 2, 6);
  const expected = [1 / 6, -1 / 3, 1 / 6, -0.25, 0.125, 0.125];
  for (const [index, value] of expected.entries()) expect(got.gradients.logits![index]).toBeCloseTo(value, 6);
});

test('policy gradient: the derivative by a log-probability is minus weight times advantage', async () => {
  const numbers = { logprobs: [-1, -2, -3], advantages: [2, -1, 5], weight: [0.5, 0.5, 0] };
  const got = await evaluate(policyGradient(), numbers);
  expect(got.loss).toBeCloseTo(0, 6);
  expect(got.gradients.logprobs).toEqual([-1, 0.5, -0]);
});

test('policy gradient and an unclipped PPO step have the same gradient on fresh data', async () => {
  const numbers = { logprobs: [-1, -2, -0.5], oldLogprobs: [-1, -2, -0.5], advantages: [2, -1, 0.5] };
  const [plain, ppo] = [await evaluate(policyGradient(), numbers), await evaluate(ppoClip(), numbers)];
  expect(ppo.gradients).toEqual(plain.gradients);
});

describe('value loss', () => {
  const numbers = {
    logprobs: [0, 0, 0, 0],
    values: [1, 1, 0.1, 3],
    oldValues: [0.5, 0.95, 0, 3],
    returns: [0, 2, 1, 3],
    weight: [0.25, 0.25, 0.25, 0.25],
  };

  test('takes the larger of the two errors', async () => {
    const got = await evaluate(valueLoss(), numbers);
    // Token 0 moved by 0.5 away from its return: the plain error is larger. The others moved less than 0.2.
    const squared = [1, 1, 0.81, 0];
    const half = 0.5 * 0.25 * squared.reduce((a, b) => a + b, 0);
    expect(got.metrics['value/loss']).toBeCloseTo(half, 6);
    expect(got.loss).toBeCloseTo(0.5 * half, 6);
    expect(got.metrics['value/clip_fraction']).toBe(0);
    const expected = [0.125, -0.125, -0.1125, 0];
    for (const [index, value] of expected.entries())
      expect(got.gradients.values![index]).toBeCloseTo(value, 6);
  });

  test('stops pulling a value that has moved towards its return by more than the clip', async () => {
    const moved = { ...numbers, values: [0.1, 1, 0.1, 3] };
    const got = await evaluate(valueLoss({ valueCoefficient: 1 }), moved);
    expect(got.gradients.values![0]).toBeCloseTo(0, 6);
    expect(got.metrics['value/clip_fraction']).toBe(0.25);
    expect(got.metrics['value/loss']).toBeCloseTo(0.125 * (0.3 ** 2 + 1 + 0.81), 6);
    const free = await evaluate(valueLoss({ valueCoefficient: 1, valueClip: 0 }), moved);
    expect(free.gradients.values![0]).toBeCloseTo(0.025, 6);
    expect(valueLoss({ valueClip: 0 }).channels).toEqual(['returns']);
  });

  test('explained variance comes from sums', async () => {
    const { metrics } = await evaluate(valueLoss(), numbers);
    // Var(returns) = 1.25; errors 1, -1, -0.9, 0 have mean -0.225 and mean square 0.7025.
    expect(explainedVariance(metrics)).toBeCloseTo(1 - (0.7025 - 0.225 ** 2) / 1.25, 5);
    const doubled = Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, 2 * value]));
    expect(explainedVariance(doubled)).toBeCloseTo(explainedVariance(metrics), 6);
    const perfect = await evaluate(valueLoss(), { ...numbers, values: numbers.returns });
    expect(explainedVariance(perfect.metrics)).toBe(1);
    expect(explainedVariance({})).toBe(0);
  });

  test('at targets it is a mean over these: other values may move without being pulled back', async () => {
    const turns = { ...numbers, valueWeight: [0.5, 0, 0.5, 0] };
    const got = await evaluate(atTargets(valueLoss({ valueClip: 0, valueCoefficient: 1 })), turns);
    // Half the squared errors 1 and 0.81; token 1, which is a whole away from its number, is left alone.
    expect(got.loss).toBeCloseTo(0.25 * (1 + 0.81), 6);
    const expected = [0.5, 0, -0.45, 0];
    for (const [index, value] of expected.entries())
      expect(got.gradients.values![index]).toBeCloseTo(value, 6);
    expect(got.metrics['value/weight']).toBe(1);
  });

  test('refuses negative settings', () => {
    expect(() => valueLoss({ valueClip: -1 })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Objective "value-loss" cannot use this value of "valueClip". Seen: -1. Allowed: a number >= 0.]`,
    );
  });
});

test('a combination adds losses, keeps all metrics, and asks for everything its parts ask for', async () => {
  const numbers = {
    logprobs: [-1, -2],
    oldLogprobs: [-1, -2],
    advantages: [1, -2],
    values: [0.5, 0],
    oldValues: [0.5, 0],
    returns: [1, 1],
  };
  const parts = [ppoClip(), valueLoss()] as const;
  const both = combine(parts);
  expect(both.channels).toEqual(['advantages', 'oldLogprobs', 'returns', 'oldValues']);
  expect(both.needs).toEqual({ values: true });
  const [sum, policy, value] = [
    await evaluate(both, numbers),
    await evaluate(parts[0], numbers),
    await evaluate(parts[1], numbers),
  ];
  expect(sum.loss).toBeCloseTo(policy.loss + value.loss, 6);
  expect(sum.metrics).toEqual({ ...policy.metrics, ...value.metrics });
  expect(sum.gradients.values).toEqual(value.gradients.values);
});
