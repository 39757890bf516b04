/** Forward KL to a teacher: worked numbers, and gradients by the logits of the policy held to finite differences. */

import { expect, test } from 'vitest';
import { forwardKl } from './imitation/forward-kl.ts';
import { evaluate, evaluateToyPolicy } from './testing/evaluate.ts';

const { log, exp } = Math;

test('two tokens of a teacher, normalised over both, against a policy that halves and quarters', async () => {
  const got = await evaluate(forwardKl({ top: 2 }), {
    logprobs: [0],
    logprobsOf: [log(0.5), log(0.25)],
    teacherIds: [4, 7],
    teacherLogprobs: [log(0.6), log(0.2)],
    weight: [0.5],
  });
  // q = 0.75, 0.25: KL = 0.75 log(0.75/0.5) + 0.25 log(0.25/0.25).
  expect(got.loss).toBeCloseTo(0.5 * 0.75 * log(1.5), 6);
  expect(got.metrics['distill/forward_kl']).toBeCloseTo(0.5 * 0.75 * log(1.5), 6);
  expect(got.metrics['distill/covered']).toBeCloseTo(0.5 * 0.8, 6);
  // -weight · q
  expect(got.gradients.logprobsOf![0]).toBeCloseTo(-0.375, 6);
  expect(got.gradients.logprobsOf![1]).toBeCloseTo(-0.125, 6);
});

test('a token that is not there counts nothing', async () => {
  const numbers = { logprobs: [0], logprobsOf: [log(0.5), -3], teacherIds: [4, 0] };
  const got = await evaluate(forwardKl({ top: 2 }), { ...numbers, teacherLogprobs: [log(0.9), -1e9] });
  expect(got.loss).toBeCloseTo(-log(0.5), 6);
  expect(got.gradients.logprobsOf![1]).toBeCloseTo(0, 9);
});

test('over the whole vocabulary it is 0 where policy and teacher agree, and its gradient is π - p', async () => {
  const logits = [0.2, -0.4, 1.1, 0.9, 0, -1];
  const p = [0.5, 0.3, 0.2, 0.1, 0.1, 0.8];
  const channels = {
    weight: [1, 0.25],
    teacherIds: [0, 1, 2, 2, 0, 1],
    teacherLogprobs: [p[0]!, p[1]!, p[2]!, p[5]!, p[3]!, p[4]!].map(log),
  };
  const softmax = (row: readonly number[]): number[] => {
    const total = row.reduce((sum, logit) => sum + exp(logit), 0);
    return row.map((logit) => exp(logit) / total);
  };
  const { gradients } = await evaluateToyPolicy(forwardKl({ top: 3 }), logits, [0, 1], channels);
  const expected = [0, 1].flatMap((row) =>
    softmax(logits.slice(3 * row, 3 * row + 3)).map(
      (own, token) => channels.weight[row]! * (own - p[3 * row + token]!),
    ),
  );
  for (const [place, slope] of expected.entries()) expect(gradients.logits![place]!).toBeCloseTo(slope, 5);
  const agreed = await evaluateToyPolicy(forwardKl({ top: 3 }), p.map(log), [0, 1], channels);
  expect(agreed.loss).toBeCloseTo(0, 6);
});

test('the gradient by the logits agrees with finite differences where the teacher is cut', async () => {
  const logits = [0.2, -0.4, 1.1, 0.9, 0, -1];
  const channels = {
    weight: [0.7, 0.3],
    teacherIds: [2, 0, 1, 2],
    teacherLogprobs: [0.6, 0.1, 0.5, 0.4].map(log),
  };
  const at = (moved: readonly number[]) => evaluateToyPolicy(forwardKl({ top: 2 }), moved, [0, 1], channels);
  const { gradients } = await at(logits);
  for (const place of logits.keys()) {
    const by = (width: number) => at(logits.map((logit, index) => (index === place ? logit + width : logit)));
    const difference = ((await by(0.01)).loss - (await by(-0.01)).loss) / 0.02;
    expect(gradients.logits![place]!).toBeCloseTo(difference, 3);
  }
});
