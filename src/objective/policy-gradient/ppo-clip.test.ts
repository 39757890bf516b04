import { describe, expect, test } from 'vitest';
import { Rng } from '../../core/rng.ts';
import { evaluate, evaluateToyPolicy } from '../testing/evaluate.ts';
import { type PpoClipOptions, ppoClip } from './ppo-clip.ts';

/** One token with this advantage and ratio: its loss and the derivative by its log-probability. */
async function token(advantage: number, ratio: number, options: PpoClipOptions = {}) {
  const { loss, gradients, metrics } = await evaluate(ppoClip(options), {
    logprobs: [Math.log(ratio) - 1],
    oldLogprobs: [-1],
    advantages: [advantage],
  });
  return { loss, gradient: gradients.logprobs![0]!, metrics };
}

describe('worked losses, and gradients of one token', () => {
  const symmetric = { clipHigh: 0.2 };
  test.each([
    { advantage: 1, ratio: 1.5, options: symmetric, loss: -1.2, gradient: 0, clipped: 1, bounded: 0 },
    { advantage: 1, ratio: 1.5, options: {}, loss: -1.28, gradient: 0, clipped: 1, bounded: 0 },
    { advantage: 1, ratio: 0.5, options: {}, loss: -0.5, gradient: -0.5, clipped: 0, bounded: 0 },
    { advantage: -1, ratio: 1.5, options: {}, loss: 1.5, gradient: 1.5, clipped: 0, bounded: 0 },
    { advantage: -1, ratio: 5, options: {}, loss: 3, gradient: 0, clipped: 0, bounded: 1 },
    { advantage: -1, ratio: 0.5, options: {}, loss: 0.8, gradient: 0, clipped: 1, bounded: 0 },
    { advantage: 1, ratio: 1, options: {}, loss: -1, gradient: -1, clipped: 0, bounded: 0 },
    { advantage: 0, ratio: 5, options: {}, loss: 0, gradient: 0, clipped: 0, bounded: 0 },
  ])(
    'A $advantage, ρ $ratio, $options: $loss',
    async ({ advantage, ratio, options, loss, gradient, clipped, bounded }) => {
      const got = await token(advantage, ratio, options);
      expect(got.loss).toBeCloseTo(loss, 4);
      expect(got.gradient).toBeCloseTo(gradient, 4);
      expect(got.metrics['policy/clip_fraction']).toBe(clipped);
      expect(got.metrics['policy/dual_clip_fraction']).toBe(bounded);
      expect(got.metrics['policy/ratio']).toBeCloseTo(ratio, 4);
      expect(got.metrics['policy/kl_k1']).toBeCloseTo(-Math.log(ratio), 4);
      expect(got.metrics['policy/kl']).toBeCloseTo(ratio - 1 - Math.log(ratio), 4);
    },
  );

  test('without dual clip the loss of negative advantages grows with the ratio', async () => {
    const got = await token(-1, 5, { dualClip: 0 });
    expect(got.loss).toBeCloseTo(5, 4);
    expect(got.gradient).toBeCloseTo(5, 4);
    expect('policy/dual_clip_fraction' in got.metrics).toBe(false);
  });

  test('nothing overflows, and tokens without weight do not matter', async () => {
    const { loss, gradients, metrics } = await evaluate(ppoClip({ klCoefficient: 0.1 }), {
      logprobs: [-1, 0, -200],
      oldLogprobs: [-1, -300, 0],
      referenceLogprobs: [-1, -300, 0],
      advantages: [2, -1, 1],
      weight: [0.5, 0, 0],
    });
    expect(loss).toBeCloseTo(-1, 6);
    expect(gradients.logprobs).toEqual([-1, 0, 0]);
    expect(metrics['policy/ratio']).toBe(1);
  });
});

describe('KL to a reference', () => {
  const x = [0.1, -0.3, 0.5];
  const only = (klEstimator: PpoClipOptions['klEstimator']) =>
    evaluate(ppoClip({ klCoefficient: 1, klEstimator }), {
      logprobs: x.map((value) => value - 2),
      oldLogprobs: x.map((value) => value - 2),
      referenceLogprobs: [-2, -2, -2],
      advantages: [0, 0, 0],
    });
  const k3 = x.map((value) => Math.exp(-value) - 1 + value);
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

  test.each([
    ['k2', 0.005 + 0.045 + 0.125, x],
    ['k3', 0.0048 + 0.0499 + 0.1065, x.map((value) => 1 - Math.exp(-value))],
    ['k3+', 0.0048 + 0.0499 + 0.1065, x],
  ] as const)('%s', async (estimator, loss, gradient) => {
    const got = await only(estimator);
    expect(Math.abs(got.loss - loss)).toBeLessThan(2e-4);
    for (const [index, value] of gradient.entries()) {
      expect(got.gradients.logprobs![index]).toBeCloseTo(value, 5);
    }
    expect(got.metrics['policy/kl_reference']).toBeCloseTo(sum(k3) / 3, 5);
  });
});

test('the entropy bonus lowers the loss and reports the entropy', async () => {
  const numbers = {
    logprobs: [-1, -1],
    oldLogprobs: [-1, -1],
    advantages: [0, 0],
    entropies: [2, 4],
    weight: [0.5, 0.5],
  };
  const got = await evaluate(ppoClip({ entropyCoefficient: 0.1 }), numbers);
  expect(got.loss).toBeCloseTo(-0.3, 6);
  expect(got.metrics['policy/entropy_exact']).toBeCloseTo(3, 6);
  for (const gradient of got.gradients.entropies!) expect(gradient).toBeCloseTo(-0.05, 6);
});

test('what it asks of the engine depends on what is on', () => {
  expect(ppoClip().channels).toEqual(['advantages', 'oldLogprobs']);
  expect(ppoClip().needs).toEqual({});
  const all = ppoClip({ entropyCoefficient: 0.1, klCoefficient: 0.1 });
  expect(all.channels).toEqual(['advantages', 'oldLogprobs', 'referenceLogprobs']);
  expect(all.needs).toEqual({ entropies: true });
  expect(all.key).not.toBe(ppoClip().key);
  expect(ppoClip({ clipLow: 0.2 }).key).toBe(ppoClip().key);
});

test('a dual clip that would cut ordinary tokens is refused', () => {
  expect(() => ppoClip({ dualClip: 1 })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Objective "ppo-clip" cannot use this value of "dualClip". Seen: 1. Allowed: a number > 1.]`,
  );
});

test('the gradient by the logits of a toy policy agrees with finite differences', async () => {
  const options = { dualClip: 3, klCoefficient: 0.3, klEstimator: 'k3' } as const;
  const rng = Rng.of('toy policy');
  for (let trial = 0; trial < 5; trial++) {
    const draw = (count: number, scale: number) =>
      Array.from({ length: count }, () => Math.fround(scale * rng.normal()));
    const logits = draw(9, 1);
    const ids = [rng.int(3), rng.int(3), rng.int(3)];
    const channels = {
      advantages: draw(3, 2),
      oldLogprobs: draw(3, 0.7).map((value) => value - 1),
      referenceLogprobs: draw(3, 0.5).map((value) => value - 1),
      weight: [0.5, 0.3, 0],
    };
    const lossOf = (point: readonly number[]): number => toyLoss(point, ids, channels);
    const got = await evaluateToyPolicy(ppoClip(options), logits, ids, channels);
    expect(got.loss).toBeCloseTo(lossOf(logits), 4);
    for (const [index, gradient] of got.gradients.logits!.entries()) {
      const moved = (by: number) => lossOf(logits.map((value, at) => (at === index ? value + by : value)));
      expect(gradient).toBeCloseTo((moved(1e-6) - moved(-1e-6)) / 2e-6, 3);
    }
  }
});

/** The loss with the options above, written out in plain numbers. */
function toyLoss(
  logits: readonly number[],
  ids: readonly number[],
  {
    advantages,
    oldLogprobs,
    referenceLogprobs,
    weight,
  }: Record<'advantages' | 'oldLogprobs' | 'referenceLogprobs' | 'weight', number[]>,
): number {
  return ids.reduce((loss, id, t) => {
    const row = logits.slice(3 * t, 3 * t + 3);
    const logprob = row[id]! - Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0));
    const advantage = advantages[t]!;
    const ratio = Math.exp(logprob - oldLogprobs[t]!);
    let policy = Math.max(-advantage * ratio, -advantage * Math.min(Math.max(ratio, 0.8), 1.28));
    if (advantage < 0) policy = Math.min(policy, -3 * advantage);
    const x = logprob - referenceLogprobs[t]!;
    return loss + weight[t]! * (policy + 0.3 * (Math.exp(-x) - 1 + x));
  }, 0);
}
