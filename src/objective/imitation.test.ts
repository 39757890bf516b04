/** Objectives that imitate: what they keep, how much it weighs, and where gradients go. */

import { describe, expect, test } from 'vitest';
import { bestOfN, bestOfNExtraction } from './critic/best-of-n.ts';
import { advantageWeighted } from './imitation/advantage-weighted.ts';
import { crossEntropy } from './imitation/cross-entropy.ts';
import { filteredBc, keepBest } from './imitation/filtered-bc.ts';
import { gtr, imitationShare, sftRl } from './imitation/imitation-mix.ts';
import {
  isReplayed,
  recalibratedAdvantage,
  replayWeight,
  selfImitation,
} from './imitation/self-imitation.ts';
import { clipCov } from './policy-gradient/clip-cov.ts';
import { counterfactual } from './policy-gradient/counterfactual.ts';
import { ppoClip } from './policy-gradient/ppo-clip.ts';
import { evaluate, evaluateStep, finiteDifferences } from './testing/evaluate.ts';

const close = (got: readonly number[], want: readonly number[], digits = 5): void => {
  expect(got.length).toBe(want.length);
  for (const [index, value] of want.entries()) expect(got[index]!).toBeCloseTo(value, digits);
};

describe('awr', () => {
  test('weights by the exponential of the advantage, up to a cap', async () => {
    const got = await evaluate(advantageWeighted({ temperature: 0.5 }), {
      logprobs: [-1, -2, -3],
      advantages: [0.5, -0.5, 900],
    });
    close(got.gradients.logprobs!, [-Math.E, -Math.exp(-1), -20], 4);
    expect(got.loss).toBeCloseTo(Math.E + 2 * Math.exp(-1) + 60, 3);
    const equal = { logprobs: [-1, -2], advantages: [0, 0] };
    expect((await evaluate(advantageWeighted(), equal)).gradients).toEqual(
      (await evaluate(crossEntropy(), { logprobs: [-1, -2] })).gradients,
    );
  });

  test('the gradient agrees with finite differences', async () => {
    const numbers = { rows: [{ logprobs: [-1, -2], advantages: [0.3, -1], weight: [0.5, 0.25] }] };
    const got = await evaluateStep(advantageWeighted(), numbers);
    close(got.gradients.logprobs!, await finiteDifferences(advantageWeighted(), numbers), 3);
  });
});

describe('filtered-bc', () => {
  test('the best tenth of ten returns is one of them', () => {
    const returns = [0.1, 0.4, 0.9, 0.9, 0.2, 0.3, 0.5, 0.7, 0.6, 1];
    expect(keepBest(returns, 0.1).flatMap((kept, index) => (kept ? [returns[index]] : []))).toEqual([1]);
    expect(keepBest([1, 1, 1], 0.1)).toEqual([true, true, true]);
    expect(keepBest([], 0.5)).toEqual([]);
    expect(() => keepBest([Number.NaN], 0.5)).toThrow('return 0');
  });

  test('kept rows take the weight of the whole step', async () => {
    const row = { logprobs: [-1, -2], weight: [0.25, 0.25] };
    const got = await evaluateStep(filteredBc({ share: 0.5 }), {
      rows: [row, row],
      sequences: [
        { rows: [0], reward: 0 },
        { rows: [1], reward: 1 },
      ],
    });
    close(got.gradients.logprobs!, [0, 0, -0.5, -0.5]);
    expect(got.metrics['imitation/kept']).toBe(1);
  });
});

describe('mixed imitation and policy gradient', () => {
  const schedule = { warmupSteps: 0, decaySteps: 350, peak: 0.9, valley: 0.05 };

  test('DataMind: the share falls from .9 to .05', () => {
    close(
      [0, 175, 350, 900].map((step) => imitationShare(step, schedule)),
      [0.9, 0.475, 0.05, 0.05],
    );
    close(
      [0, 5, 10].map((step) => imitationShare(step, { ...schedule, warmupSteps: 10 })),
      [0, 0.45, 0.9],
    );
  });

  const rows = [
    {
      logprobs: [-1, -2, -0.5],
      oldLogprobs: [-1, -2, 0],
      advantages: [2, -1, 0],
      weight: [0.5, 0.5, 0],
      imitation: [0, 0, 0.25],
    },
  ];

  test('each part has its share, and the shares are in no graph', async () => {
    const objective = sftRl();
    const got = await evaluateStep(objective, { rows, step: 175 });
    close(got.gradients.logprobs!, [-0.525, 0.525 / 2, -0.475 / 4]);
    close((await evaluateStep(objective, { rows, step: 900 })).gradients.logprobs!, [-0.95, 0.475, -0.0125]);
    expect(objective.key).toBe(sftRl().key);
  });

  test('imitated tokens may weigh by their probability', async () => {
    const p = Math.exp(-0.5);
    for (const [tokenWeights, weight] of [
      ['uncertain', p * (1 - p)],
      ['importance', p],
    ] as const) {
      const got = await evaluateStep(sftRl({ tokenWeights }), { rows, step: 900 });
      expect(got.gradients.logprobs![2]).toBeCloseTo(-0.0125 * weight, 6);
    }
  });

  test('GTR adds imitation of thoughts to PPO on actions', async () => {
    const got = await evaluateStep(gtr({ imitationCoefficient: 2 }), { rows });
    const ppo = await evaluateStep(ppoClip(), { rows });
    close(got.gradients.logprobs!, [...ppo.gradients.logprobs!.slice(0, 2), -0.5]);
    expect(got.loss).toBeCloseTo(ppo.loss + 0.25, 5);
    close(got.gradients.logprobs!, await finiteDifferences(gtr({ imitationCoefficient: 2 }), { rows }), 2);
  });
});

describe('self-imitation', () => {
  test('worked numbers', () => {
    close(
      [0, 50, 100, 101].map((step) => replayWeight(step, 1, 100)),
      [0, 0.5, 1, 1],
    );
    const means = [0.1, 0.2, 0.4, 0.5, 0.9];
    close(
      [1, 0.3].map((reward) => recalibratedAdvantage(reward, means)),
      [0.6, -0.1],
    );
    expect([isReplayed(1, 0.6), isReplayed(1, -0.1), isReplayed(1, 0), isReplayed(-1, 0.6)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([isReplayed(-1, 0, 'code'), isReplayed(1, -0.1, 'code')]).toEqual([true, false]);
    expect(() => recalibratedAdvantage(Number.NaN, means)).toThrow('replayed trajectory');
  });

  test('replayed rows weigh γ; without them it is Clip-Cov', async () => {
    const row = (replay: number) => ({
      logprobs: [-1, -2],
      oldLogprobs: [-1, -2],
      advantages: [1, -1],
      weight: [0.5, 0.5],
      replay: [replay, replay],
    });
    const got = await evaluateStep(selfImitation(), { rows: [row(0), row(1)], step: 50 });
    close(got.gradients.logprobs!, [-0.5, 0.5, -0.25, 0.25]);
    const fresh = { rows: [row(0)], step: 50 };
    const [spear, plain] = [selfImitation({ lower: 0 }), clipCov({ lower: 0, policy: { dualClip: 10 } })];
    expect((await evaluateStep(spear, fresh)).gradients).toEqual(
      (await evaluateStep(plain, fresh)).gradients,
    );
  });
});

describe('best-of-n', () => {
  const candidates = [
    [0.6, 0.55],
    [0.8, 0.7],
    [0.3, 0.5],
  ].map(([one, two]) => ({
    actionValues: [one!, two!] as const,
    stateValues: [0.65, 0.65] as const,
    valid: true,
  }));

  test('worked numbers: the second of three, at either threshold', () => {
    for (const threshold of [0.05, 0.1]) {
      const best = bestOfN(candidates, { threshold, pool: 'max' });
      expect(best.choice).toBe(1);
      expect(best.advantage).toBeCloseTo(0.15, 10);
      expect(best.weight).toBe(1);
    }
    expect(bestOfN(candidates, { threshold: 0.1, pool: 'min' }).weight).toBe(0);
    expect(bestOfN(candidates.map((candidate) => ({ ...candidate, valid: false }))).weight).toBe(0);
    expect(() => bestOfN([{ ...candidates[0]!, stateValues: [Number.NaN, 0] }])).toThrow('candidate 0');
  });

  test('a state whose best does not pass contributes nothing', async () => {
    const got = await evaluate(bestOfNExtraction(), {
      logprobs: [-1, -2],
      advantages: [1, 0],
      weight: [0.5, 0.5],
    });
    close(got.gradients.logprobs!, [-0.5, 0]);
  });
});

test('counterfactual: the forced continuation learns from the difference of rewards', async () => {
  const row = (advantages: readonly number[], weight: readonly number[]) => ({
    logprobs: [-1, -2],
    oldLogprobs: [-1, -2],
    advantages,
    weight,
  });
  const step = {
    rows: [row([0.3, 0.3], [0.25, 0.25]), row([0, 0], [0, 0.5])],
    sequences: [
      { rows: [0], reward: 0.2 },
      { rows: [1], reward: 1 },
    ],
    pairs: [[1, 0]] as const,
  };
  close((await evaluateStep(counterfactual(), step)).gradients.logprobs!, [-0.075, -0.075, 0, -0.4]);
});
