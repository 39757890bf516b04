/** Losses over sequences and pairs: worked numbers, gradients through scoring, and how rows may be cut. */

import { describe, expect, test } from 'vitest';
import { logistic, softplus } from './contract/sequence-loss.ts';
import { agentQ, dpo, eto } from './preference/dpo.ts';
import { kto } from './preference/kto.ts';
import { agentQPairs, etoPair, mixedValue } from './preference/pairs.ts';
import { onlyTurn, rebel, refuel } from './preference/rebel.ts';
import { evaluateStep, finiteDifferences, type StepNumbers } from './testing/evaluate.ts';

/** A row whose log-ratios to reference and old policy are these. */
function row(logRatios: readonly number[], weight?: readonly number[]) {
  return {
    logprobs: logRatios.map((x) => x - 1),
    referenceLogprobs: logRatios.map(() => -1),
    oldLogprobs: logRatios.map(() => -1),
    weight: weight ?? logRatios.map(() => 1),
  };
}

const sequence = (rows: readonly number[], reward = 0) => ({ rows, reward });

/** Winner .6, loser -.3, as sums over turns; the observation between them does not count. */
const pair: StepNumbers = {
  rows: [row([0.5, -0.2, 0.3, 9], [1, 1, 1, 0]), row([-0.4, 0.1, 5, 5], [1, 1, 0, 0])],
  sequences: [sequence([0], 1), sequence([1], 0)],
  pairs: [[0, 1]],
};

describe('worked numbers', () => {
  test.each([
    [dpo(), 0.6492],
    [dpo({ beta: 0.5 }), 0.4932],
    [eto(), 0.6492],
    [agentQ(), 0.6492],
  ])('DPO: %#', async (objective, loss) => {
    expect((await evaluateStep(objective, pair)).loss).toBeCloseTo(loss, 4);
  });

  test('DPO plus .8 of likelihood', async () => {
    // The winner's mean negative log-likelihood is 1 - .6 / 3 = .8.
    const { loss } = await evaluateStep(dpo({ likelihoodCoefficient: 1 }), pair);
    expect(loss).toBeCloseTo(1.4492, 4);
  });

  test('KTO with a baseline of .05', async () => {
    const baseline = { rows: [2], reward: 0, baseline: true };
    const rows = [...pair.rows, row([0.05, 0, 0, 0])];
    const desirable = await evaluateStep(kto(), { rows, sequences: [sequence([0], 1), baseline] });
    expect(desirable.loss).toBeCloseTo(0.4863, 4);
    const undesirable = await evaluateStep(kto(), { rows, sequences: [sequence([1], 0), baseline] });
    expect(undesirable.loss).toBeCloseTo(0.4913, 4);
    expect(undesirable.metrics['preference/baseline']).toBeCloseTo(0.05, 6);
  });

  test.each([
    [rebel(), 0.16],
    [rebel({ eta: 0.1 }), 0.1024],
    [refuel(), 0.16],
  ])('REBEL and REFUEL: %#', async (objective, loss) => {
    const numbers = {
      rows: [row([0.3]), row([-0.1])],
      sequences: [sequence([0], 1), sequence([1], 0.2)],
      pairs: [[0, 1]] as const,
    };
    expect((await evaluateStep(objective, numbers)).loss).toBeCloseTo(loss, 4);
  });

  test('Agent Q: values .9, .35, .4167 make two pairs', () => {
    const actions = [
      { searched: 0.8, ranked: 1 },
      { searched: 0.2, ranked: 0.5 },
      { searched: 0.5, ranked: 1 / 3 },
    ];
    expect(actions.map((action) => mixedValue(action).toFixed(4))).toEqual(['0.9000', '0.3500', '0.4167']);
    expect(agentQPairs(actions, { mixing: 0.5, threshold: 0.1 })).toEqual([
      [0, 1],
      [0, 2],
    ]);
    expect(mixedValue({ ranked: 0.3 })).toBe(0.3);
    expect(agentQPairs([{ ranked: 0.5 }, { ranked: 0.5 }], { mixing: 0.5, threshold: 0 })).toEqual([]);
  });

  test('ETO: the higher reward wins, ties make no pair', () => {
    expect([etoPair(0, 1), etoPair(1, 0.5), etoPair(1, 1)]).toEqual(['expert', 'agent', undefined]);
  });
});

describe.each([
  ['dpo', dpo({ beta: 0.7, likelihoodCoefficient: 0.3 })],
  ['kto', kto({ beta: 0.7, undesirableWeight: 0.5 })],
  ['rebel', rebel({ eta: 0.5, klCoefficient: 0.1 })],
  ['agent-q', agentQ()],
])('%s', (name, objective) => {
  const numbers: StepNumbers = {
    rows: [
      row([0.5, -0.2, 0.3]),
      row([0.9, 0.4, 1], [1, 0, 1]),
      { ...row([-0.4, 0.1, 0.2], [1, 1, 0]), referenceLogprobs: [-1.5, -1, -2] },
      row([0.7, 0.1, 0.2]),
    ],
    // The first sequence has two rows; the second is in two pairs.
    sequences: [sequence([0, 1], 1), sequence([2], -0.5), sequence([3], 0.2)],
    pairs: [
      [0, 1],
      [2, 1],
    ],
  };

  test('the gradient is that of the whole loss, by finite differences', async () => {
    const got = await evaluateStep(objective, numbers);
    const moving = { ...numbers, rows: numbers.rows };
    const want = await finiteDifferences(objective, moving);
    if (name === 'kto') {
      // The reference point of KTO is a constant in the gradient: with it fixed by a baseline, both agree.
      const fixed: StepNumbers = {
        ...numbers,
        rows: [...numbers.rows, row([0.2, 0, 0])],
        sequences: [...numbers.sequences!, { rows: [4], reward: 0, baseline: true }],
      };
      const [gradient, differences] = [
        (await evaluateStep(objective, fixed)).gradients.logprobs!,
        await finiteDifferences(objective, fixed),
      ];
      for (const [index, value] of gradient.slice(0, 12).entries()) {
        expect(value).toBeCloseTo(differences[index]!, 4);
      }
      expect(gradient.slice(12)).toEqual([0, 0, 0]);
      return;
    }
    for (const [index, value] of want.entries())
      expect(got.gradients.logprobs![index]!).toBeCloseTo(value, 3);
  });

  test('cutting a sequence into rows changes nothing', async () => {
    const whole = await evaluateStep(objective, {
      rows: [row([0.5, -0.2, 0.3, 0.9]), row([-0.4, 0.1, 0, 0], [1, 1, 0, 0])],
      sequences: [sequence([0], 1), sequence([1], 0)],
      pairs: [[0, 1]],
    });
    const cut = await evaluateStep(objective, {
      rows: [row([0.3, 0.9]), row([-0.4, 0.1]), row([0.5, -0.2])],
      sequences: [sequence([2, 0], 1), sequence([1], 0)],
      pairs: [[0, 1]],
    });
    expect(cut.loss).toBeCloseTo(whole.loss, 6);
    const [first, , , , second] = whole.gradients.logprobs!;
    for (const [index, want] of [first, first, second, second, first, first].entries()) {
      expect(cut.gradients.logprobs![index]!).toBeCloseTo(want!, 6);
    }
  });

  test('one token, all masked, extreme scores and equal sequences are finite', async () => {
    for (const [a, b] of [
      [row([0.1]), row([0])],
      [row([400]), row([-400])],
      [row([-400]), row([400])],
      [row([1], [0]), row([1], [0])],
    ] as const) {
      const got = await evaluateStep(objective, {
        rows: [a, b],
        sequences: [sequence([0], 1), sequence([1], 0)],
        pairs: [[0, 1]],
      });
      expect(Number.isFinite(got.loss)).toBe(true);
      expect(got.gradients.logprobs!.every(Number.isFinite)).toBe(true);
    }
  });

  test('refuses numbers that are not finite', async () => {
    const broken = { ...numbers, sequences: [sequence([0, 1], Number.NaN), ...numbers.sequences!.slice(1)] };
    await expect(evaluateStep(objective, broken)).rejects.toThrow(
      'An objective met a number that is not finite: the reward of sequence 0. Seen: NaN.',
    );
    const rows = [{ ...numbers.rows[0]!, logprobs: [-1, Number.NaN, -1] }, ...numbers.rows.slice(1)];
    await expect(evaluateStep(objective, { ...numbers, rows })).rejects.toThrow('the score of sequence 0');
    const outside = { ...numbers, sequences: [sequence([9]), ...numbers.sequences!.slice(1)] };
    await expect(evaluateStep(objective, outside)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: A sequence or pair points outside the step. Seen: 9. Allowed: 0 to 3.]`,
    );
  });
});

test('REFUEL looks at one turn', () => {
  expect([...onlyTurn(Float32Array.of(1, 1, 0.5, 1), [1, 2, 2, 3], 2)]).toEqual([0, 1, 0.5, 0]);
});

test('stable forms of the logistic and its logarithm', () => {
  for (const x of [-800, -3, 0, 2, 800]) {
    expect(logistic(x) + logistic(-x)).toBeCloseTo(1, 12);
    expect(softplus(x) - softplus(-x)).toBeCloseTo(x, 9);
  }
});
