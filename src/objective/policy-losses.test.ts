/** Policy losses that differ from PPO clip in ratio or clip: worked numbers, gradients, and extremes. */

import { describe, expect, test } from 'vitest';
import type { Objective } from './contract/objective.ts';
import { aepoClip } from './policy-gradient/aepo-clip.ts';
import { cispo } from './policy-gradient/cispo.ts';
import { dro } from './policy-gradient/dro.ts';
import { gspo } from './policy-gradient/gspo.ts';
import { importanceSampling } from './policy-gradient/importance-sampling.ts';
import { ppoClip } from './policy-gradient/ppo-clip.ts';
import { turnPpo } from './policy-gradient/turn-ppo.ts';
import {
  evaluate,
  evaluateStep,
  finiteDifferences,
  type StepNumbers,
  type TokenNumbers,
} from './testing/evaluate.ts';

const close = (got: readonly number[], want: readonly number[], digits = 4): void => {
  expect(got.length).toBe(want.length);
  for (const [index, value] of want.entries()) expect(got[index]!).toBeCloseTo(value, digits);
};

/** Tokens with these ratios to the old policy. */
function withRatios(ratios: readonly number[], advantages: number | readonly number[]) {
  return {
    logprobs: ratios.map((ratio) => Math.log(ratio) - 3),
    oldLogprobs: ratios.map(() => -3),
    advantages: typeof advantages === 'number' ? ratios.map(() => advantages) : advantages,
  };
}

describe('worked numbers', () => {
  test('CISPO: weights (.2, .28) of ratios .5, 1.1, 4', async () => {
    const got = await evaluate(cispo({ clipLow: 0.2, clipHigh: 0.28 }), withRatios([0.5, 1.1, 4], 1));
    close(got.gradients.logprobs!, [-0.8, -1.1, -1.28]);
    expect(got.metrics['policy/clip_fraction']).toBeCloseTo(2 / 3, 6);
    const { logprobs } = withRatios([0.5, 1.1, 4], 1);
    expect(got.loss).toBeCloseTo(-(0.8 * logprobs[0]! + 1.1 * logprobs[1]! + 1.28 * logprobs[2]!), 4);
  });

  test('CISPO: cap 5 and no lower bound', async () => {
    const got = await evaluate(cispo(), withRatios([0.5, 1.1, 4, 7], 1));
    close(got.gradients.logprobs!, [-0.5, -1.1, -4, -5]);
  });

  test('GSPO: log-ratios .02, -.01, .05 have the ratio 1.0202, clipped to 1.0004', async () => {
    const numbers = { ...withRatios([0.02, -0.01, 0.05].map(Math.exp), 1), weight: [1 / 3, 1 / 3, 1 / 3] };
    const got = await evaluate(gspo(), numbers);
    expect(got.metrics['policy/ratio']).toBeCloseTo(1.0202, 4);
    expect(got.loss).toBeCloseTo(-1.0004, 6);
    close(got.gradients.logprobs!, [0, 0, 0]);
    const negative = await evaluate(gspo(), { ...numbers, advantages: [-1, -1, -1] });
    close(negative.gradients.logprobs!, [1.0202 / 3, 1.0202 / 3, 1.0202 / 3]);
  });

  test('AEPO: ratio 1.6 keeps the value of PPO and a gradient of 1.28', async () => {
    const numbers = withRatios([1.6, 2], 1);
    const [aepo, ppo] = [await evaluate(aepoClip(), numbers), await evaluate(ppoClip(), numbers)];
    expect(aepo.loss).toBeCloseTo(-2.56, 4);
    expect(ppo.loss).toBeCloseTo(-2.56, 4);
    close(aepo.gradients.logprobs!, [-1.28, -1.28]);
    close(ppo.gradients.logprobs!, [0, 0]);
    const below = await evaluate(aepoClip(), withRatios([0.5, 1.6], -1));
    close(below.gradients.logprobs!, [0, 1.6]);
  });

  test('DRO: advantage minus beta times log-ratio', async () => {
    const numbers = { logprobs: [-1, -2], oldLogprobs: [-1.5, -1], advantages: [2, -1] };
    const got = await evaluate(dro({ beta: 0.4 }), numbers);
    expect(got.loss).toBeCloseTo(-(-2 - 0.2 * 0.25 + (2 - 0.2)), 5);
    close(got.gradients.logprobs!, [-(2 - 0.4 * 0.5), -(-1 + 0.4)]);
  });

  test('importance sampling has no bound', async () => {
    const got = await evaluate(importanceSampling(), withRatios([0.1, 9], [1, -2]));
    expect(got.loss).toBeCloseTo(-0.1 + 18, 4);
    close(got.gradients.logprobs!, [-0.1, 18]);
  });

  test('Turn-PPO: a product leaves the clip that a geometric mean stays in', async () => {
    const numbers = {
      ...withRatios([1.1, 1.1, 0.9, 1.05], 1),
      turns: [1, 1, 2, 2],
      weight: [0.25, 0.25, 0.25, 0.25],
    };
    const mean = await evaluate(turnPpo(), numbers);
    expect(mean.loss).toBeCloseTo(-(1.1 + Math.sqrt(0.9 * 1.05)) / 2, 5);
    const product = await evaluate(turnPpo({ ratio: 'product' }), numbers);
    expect(product.loss).toBeCloseTo(-(1.2 + 0.9 * 1.05) / 2, 5);
    close(product.gradients.logprobs!, [0, 0, -0.945 / 2, -0.945 / 2]);
  });
});

test('GSPO: the gradient is s·A/|y| at every trained token of a row, and observations do not matter', async () => {
  const row = (observation: number) => ({
    ...withRatios([1.0001, observation, 1.0002, 1], -2),
    weight: [1 / 3, 0, 1 / 3, 1 / 3],
  });
  const s = Math.exp((Math.log(1.0001) + Math.log(1.0002)) / 3);
  const got = await evaluateStep(gspo(), { rows: [row(5), row(0.01)] });
  const each = (2 * s) / 3;
  close(got.gradients.logprobs!, [each, 0, each, each, each, 0, each, each], 5);
});

test('GSPO per turn: turns of a row have ratios of their own, adjacent or not', async () => {
  const numbers = {
    ...withRatios([1.1, 1.1, 0.9, 0.9, 1.2], -1),
    turns: [1, 1, 2, 0, 2],
    weight: [1, 1, 1, 0, 1],
  };
  const got = await evaluate(gspo({ level: 'turn', clipLow: 0.5, clipHigh: 0.5 }), numbers);
  const second = Math.sqrt(0.9 * 1.2);
  close(got.gradients.logprobs!, [1.1, 1.1, second, 0, second], 4);
});

const objectives: readonly (readonly [string, Objective, boolean])[] = [
  ['ppo-clip', ppoClip({ klCoefficient: 0.2, klEstimator: 'k3' }), true],
  ['importance-sampling', importanceSampling(), true],
  ['dro', dro(), true],
  ['turn-ppo', turnPpo(), true],
  ['turn-ppo, product', turnPpo({ ratio: 'product' }), true],
  ['cispo', cispo(), false],
  ['gspo', gspo(), false],
  ['gspo, turn', gspo({ level: 'turn' }), false],
  ['aepo-clip', aepoClip(), false],
];

describe.each(objectives)('%s', (_name, objective, differentiable) => {
  const numbers: StepNumbers = {
    rows: [
      {
        ...withRatios([1.05, 0.7, 1.5, 0.95], [1, -1, 2, -0.5]),
        referenceLogprobs: [-2.5, -3.5, -3, -2],
        turns: [1, 1, 0, 2],
        weight: [0.2, 0.2, 0, 0.3],
      },
      {
        ...withRatios([0.98, 1.5, 1.02, 0.9], [-1, 1, 0.3, 0.3]),
        referenceLogprobs: [-3, -3, -3, -3],
        turns: [1, 2, 2, 0],
        weight: [0.1, 0.1, 0.1, 0],
      },
    ],
  };

  test.skipIf(!differentiable)('the gradient agrees with finite differences', async () => {
    const got = await evaluateStep(objective, numbers);
    close(got.gradients.logprobs!, await finiteDifferences(objective, numbers), 3);
  });

  test('at ratio 1 the gradient is minus weight times advantage', async () => {
    const rows = numbers.rows.map(
      (row): TokenNumbers => ({
        ...row,
        logprobs: row.oldLogprobs!,
        referenceLogprobs: row.oldLogprobs!,
      }),
    );
    const got = await evaluateStep(objective, { rows });
    // A ratio per turn shares its gradient among the tokens of the turn; the sums per turn must agree.
    const plain = rows.flatMap(({ weight, advantages }) =>
      weight!.map((share, t) => -share * advantages![t]!),
    );
    const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
    expect(sum(got.gradients.logprobs!.slice(4))).toBeCloseTo(
      _name === 'turn-ppo, product' ? plain[4]! + 2 * (plain[5]! + plain[6]!) : sum(plain.slice(4)),
      5,
    );
  });

  test('rows add up: their losses and gradients do not depend on each other', async () => {
    const both = await evaluateStep(objective, numbers);
    const [one, two] = [
      await evaluateStep(objective, { rows: [numbers.rows[0]!] }),
      await evaluateStep(objective, { rows: [numbers.rows[1]!] }),
    ];
    expect(both.loss).toBeCloseTo(one.loss + two.loss, 6);
    close(both.gradients.logprobs!, [...one.gradients.logprobs!, ...two.gradients.logprobs!], 6);
  });

  test('extreme ratios, a single token and rows without trained tokens are finite', async () => {
    for (const numbers of [
      { ...withRatios([1], 1), logprobs: [-300], oldLogprobs: [0] },
      { ...withRatios([1], 1), logprobs: [0], oldLogprobs: [-300] },
      { ...withRatios([2, 2], 1), weight: [0, 0] },
    ]) {
      const { logprobs } = numbers;
      const got = await evaluate(objective, {
        ...numbers,
        referenceLogprobs: logprobs,
        turns: logprobs.map(() => 1),
      });
      expect(Number.isFinite(got.loss)).toBe(true);
      expect(got.gradients.logprobs!.every(Number.isFinite)).toBe(true);
      if (logprobs.length === 2) close([got.loss, ...got.gradients.logprobs!], [0, 0, 0], 8);
    }
  });
});
