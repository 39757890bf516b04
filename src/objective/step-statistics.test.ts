/** Losses that look at the whole step before gradients are taken: covariances, and mismatch of sampler and trainer. */

import { describe, expect, test } from 'vitest';
import { Rng } from '../core/rng.ts';
import { clipCov, drawCovarianceClipped } from './policy-gradient/clip-cov.ts';
import { covariances, trainedTokens } from './policy-gradient/covariance.ts';
import { klCov } from './policy-gradient/kl-cov.ts';
import {
  icepop,
  mismatchWeights,
  sequenceMask,
  truncatedImportanceSampling,
} from './policy-gradient/mismatch-correction.ts';
import { ppoClip } from './policy-gradient/ppo-clip.ts';
import { adaptKlCoefficient, klRewards } from './regularizer/kl-reward.ts';
import { evaluateStep, viewOf } from './testing/evaluate.ts';

const floats = (values: readonly number[], digits = 4): string[] =>
  values.map((value) => value.toFixed(digits));

describe('covariance', () => {
  const numbers = {
    logprobs: [-0.1, -2, -0.5, -3],
    oldLogprobs: [-0.1, -2, -0.5, -3],
    advantages: [1, 1, -1, -1],
    weight: [0.25, 0.25, 0.25, 0.25],
  };

  test('worked numbers', () => {
    const tokens = numbers.advantages.map((advantage, t) => ({ advantage, logprob: numbers.logprobs[t]! }));
    expect(floats(covariances(tokens), 1)).toEqual(['1.3', '-0.6', '-0.9', '1.6']);
    expect(covariances([])).toEqual([]);
  });

  test('Clip-Cov leaves out drawn tokens between the bounds, and keeps the denominator', async () => {
    const options = { share: 1, lower: 1, upper: 5 };
    const got = await evaluateStep(clipCov(options), { rows: [numbers] });
    expect(floats(got.gradients.logprobs!)).toEqual(['0.0000', '-0.2500', '0.2500', '0.0000'].map((x) => x));
    expect(got.metrics['policy/covariance_clipped']).toBe(2);
    const narrow = await evaluateStep(clipCov({ ...options, upper: 1.5 }), { rows: [numbers] });
    expect(floats(narrow.gradients.logprobs!)).toEqual(['0.0000', '-0.2500', '0.2500', '0.2500']);
    const none = await evaluateStep(clipCov({ ...options, lower: 3 }), { rows: [numbers] });
    expect(none.gradients).toEqual((await evaluateStep(ppoClip(), { rows: [numbers] })).gradients);
  });

  test('draws the stated share, never what the ratio clip holds already, and the same for the same seed', () => {
    const rows = [
      {
        weight: Array.from({ length: 100 }, () => 1),
        advantages: Array.from({ length: 100 }, (_, t) => (t < 50 ? 1 : -1)),
        logprobs: Array.from({ length: 100 }, (_, t) => (t < 50 ? -0.1 : -4)),
        oldLogprobs: Array.from({ length: 100 }, (_, t) => (t < 50 ? (t < 25 ? -3 : -0.1) : -4)),
      },
    ];
    const tokens = trainedTokens(viewOf({ rows }));
    const clip = { share: 0.1, lower: 0, upper: 9, clipLow: 0.2, clipHigh: 0.28 };
    const drawn = drawCovarianceClipped(tokens, clip, Rng.of(1));
    expect(drawn).toHaveLength(10);
    expect(drawn.every(({ target }) => target >= 25)).toBe(true);
    expect(drawCovarianceClipped(tokens, clip, Rng.of(1))).toEqual(drawn);
    expect(drawCovarianceClipped(tokens, clip, Rng.of(2))).not.toEqual(drawn);
  });

  test('KL-Cov penalises the token of largest covariance, in either direction', async () => {
    const moved = { ...numbers, oldLogprobs: [-0.1, -2, -0.5, -2.5] };
    const got = await evaluateStep(klCov({ share: 0.25, klCoefficient: 2 }), { rows: [moved] });
    const ratio = Math.exp(-0.5);
    expect(got.loss).toBeCloseTo(0.25 * (-1 - 1 + 1 + ratio + 2 * 0.5), 5);
    expect(got.gradients.logprobs![3]).toBeCloseTo(0.25 * (ratio - 2), 5);
    expect(got.gradients.logprobs![0]).toBeCloseTo(-0.25, 5);
  });

  test('refuses advantages that are not finite', async () => {
    const broken = { ...numbers, advantages: [1, Number.NaN, 1, 1] };
    await expect(evaluateStep(clipCov(), { rows: [broken] })).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: An objective met a number that is not finite: the advantage of token 1 of row 0. Seen: NaN. Look at the rows of this step; nothing was trained on them.]`,
    );
  });
});

describe('mismatch of sampler and trainer', () => {
  const options = { smallest: 0.5, normalize: false };
  const row = {
    weight: [1, 1, 1, 0],
    oldLogprobs: [0.1 - 2, -0.5 - 2, 1.2 - 2, 7],
    rolloutLogprobs: [-2, -2, -2, 0],
  };
  const step = (changed: Partial<typeof row> = {}) => viewOf({ rows: [{ ...row, ...changed }] });
  const weights = (mode: 'truncate' | 'sequence-truncate' | 'icepop' | 'sequence-mask', largest: number) =>
    floats([...mismatchWeights(step(), { ...options, mode, largest })]);

  test('worked numbers: log-ratios .1, -.5, 1.2', () => {
    expect(weights('truncate', 2)).toEqual(['1.1052', '0.6065', '2.0000', '1.0000']);
    expect(weights('sequence-truncate', 3)).toEqual(['2.2255', '2.2255', '2.2255', '1.0000']);
    expect(weights('icepop', 3)).toEqual(['1.1052', '0.6065', '0.0000', '1.0000']);
    // The ratio of the whole row, e^(.1 - .5 + 1.2), on each of its tokens: TRL multiplies the loss by it where it is kept.
    expect(weights('sequence-mask', 3)).toEqual(['2.2255', '2.2255', '2.2255', '1.0000']);
    expect(weights('sequence-mask', 2)).toEqual(['0.0000', '0.0000', '0.0000', '1.0000']);
  });

  test('normalised weights have mean 1 over trained tokens; extremes are finite; NaN is refused', () => {
    const all = { ...options, mode: 'truncate', largest: 2, normalize: true } as const;
    const normal = mismatchWeights(step(), all);
    expect((normal[0]! + normal[1]! + normal[2]!) / 3).toBeCloseTo(1, 6);
    // A cap below every ratio, normalised, is no weight at all: what the experiments call uncorrected.
    const uncorrected = mismatchWeights(step(), { ...all, largest: 1e-9 });
    expect([...uncorrected.subarray(0, 3)]).toEqual([1, 1, 1]);
    const far = step({ rolloutLogprobs: [-900, 900, 0, 0] });
    expect([...mismatchWeights(far, { ...all, mode: 'sequence-truncate' })].every(Number.isFinite)).toBe(
      true,
    );
    const broken = step({ rolloutLogprobs: [Number.NaN, 0, 0, 0] });
    expect(() => mismatchWeights(broken, all)).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: An objective met a number that is not finite: the log-ratio of token 0 of row 0. Seen: NaN. Look at the rows of this step; nothing was trained on them.]`,
    );
    expect(mismatchWeights(step({ weight: [0, 0, 0, 0] }), all)).toEqual(Float32Array.of(1, 1, 1, 1));
  });

  test('multiplies the gradient of the inner loss; nothing flows through the weights', async () => {
    const row = {
      logprobs: [0.1 - 2, -0.5 - 2, 1.2 - 2],
      oldLogprobs: [0.1 - 2, -0.5 - 2, 1.2 - 2],
      rolloutLogprobs: [-2, -2, -2],
      advantages: [1, 1, 1],
      weight: [1, 1, 1],
    };
    const step = { rows: [row] };
    const got = await evaluateStep(truncatedImportanceSampling(), step);
    expect(floats(got.gradients.logprobs!)).toEqual(['-1.1052', '-0.6065', '-2.0000']);
    expect(got.metrics['policy/mismatch_weight']).toBeCloseTo((1.1052 + 0.6065 + 2) / 3, 4);
    expect(floats((await evaluateStep(icepop({ largest: 3 }), step)).gradients.logprobs!)[2]).toMatch(
      /^-?0\.0000$/,
    );
    const kept = await evaluateStep(sequenceMask(), step);
    expect(floats(kept.gradients.logprobs!)).toEqual(['-2.2255', '-2.2255', '-2.2255']);
    expect(
      floats((await evaluateStep(sequenceMask({ largest: 2 }), step)).gradients.logprobs!).join(),
    ).toMatch(/^(-?0\.0000,?){3}$/);
  });
});

test('KL in the reward, and its coefficient', () => {
  expect(floats(klRewards([-1, -2], [-1.5, -1], 0.1))).toEqual(['-0.0500', '0.1000']);
  expect(adaptKlCoefficient(0.001, 0.1, 512)).toBeCloseTo(0.001, 12);
  expect(adaptKlCoefficient(0.001, 5, 5000)).toBeCloseTo(0.001 * 1.1, 12);
  expect(adaptKlCoefficient(0.001, 0, 5000)).toBeCloseTo(0.001 * 0.9, 12);
});
