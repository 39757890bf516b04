/** Objectives of critics and the entropy terms: worked numbers, gradients, and what they read of the step. */

import { describe, expect, test } from 'vitest';
import { Graph } from '../graph/graph.ts';
import { loadGraph } from '../graph/node/loaded-graph.ts';
import { toOnnx } from '../graph/onnx.ts';
import { binCentres } from '../model/decoder/decoder.ts';
import { archerActor, archerAdvantage, archerCritic, archerIql, archerTargets } from './critic/archer.ts';
import { type BinTargets, gaussTargets, hlGauss, twoHot, twoHotTargets } from './critic/categorical-value.ts';
import { ilql, mcReturns, perturbedLogits, returnsToGo, temporalTargets } from './critic/ilql.ts';
import { entropyBonus } from './regularizer/entropy-bonus.ts';
import {
  entropySmoothing,
  extendEntropyHistory,
  smoothingChannels,
  smoothingWeight,
} from './regularizer/entropy-smoothing.ts';
import { evaluate, evaluateStep, finiteDifferences, viewOf } from './testing/evaluate.ts';

const close = (got: readonly number[], want: readonly number[], digits = 4): void => {
  expect(got.length).toBe(want.length);
  for (const [index, value] of want.entries()) expect(got[index]!).toBeCloseTo(value, digits);
};

async function probabilities(targets: BinTargets, values: readonly number[], range = fiveBins) {
  const graph = new Graph();
  const p = targets(graph.input('y', [1, values.length]), range);
  const session = await loadGraph(toOnnx({ p }), { threads: 1 });
  const result = await session.run({ y: { data: Float32Array.from(values), shape: [1, values.length] } });
  await session.close();
  return values.map((_, index) => [...result.p!.slice(index * range.count, (index + 1) * range.count)]);
}

const fiveBins = { count: 5, low: 0, high: 1 };
const meanOf = (p: readonly number[]): number =>
  p.reduce((sum, probability, index) => sum + probability * binCentres(fiveBins)[index]!, 0);

describe('critics that classify', () => {
  test('HL-Gauss: worked targets, and the bias at the edge', async () => {
    const [middle, edge, beyond] = await probabilities(gaussTargets(0.75), [0.5, 0.9, 7]);
    close(middle!, [0.0223, 0.2299, 0.4954, 0.2299, 0.0223]);
    close(edge!, [0, 0.0006, 0.0299, 0.3073, 0.6622]);
    close([meanOf(middle!), meanOf(edge!)], [0.5, 0.8262]);
    expect(beyond!.every(Number.isFinite)).toBe(true);
  });

  test('two-hot: .62 lies on two centres', async () => {
    const [inside, low] = await probabilities(twoHotTargets, [0.62, -3]);
    close(inside!, [0, 0, 0.4, 0.6, 0]);
    close(low!, [1, 0, 0, 0, 0]);
  });

  test('cross-entropy against uniform logits, and softmax minus target as gradient', async () => {
    const numbers = { weight: [1], logprobs: [0], returns: [0.5], valueLogits: [0, 0, 0, 0, 0] };
    const options = { count: 5, low: 0, high: 1, valueCoefficient: 1 };
    const got = await evaluate(hlGauss(options), numbers);
    expect(got.loss).toBeCloseTo(1.6094, 4);
    close(got.gradients.valueLogits!, [0.1777, -0.0299, -0.2954, -0.0299, 0.1777]);
    close(
      got.gradients.valueLogits!,
      await finiteDifferences(hlGauss(options), { rows: [numbers] }, 'valueLogits'),
      3,
    );
    expect((await evaluate(twoHot(options), numbers)).gradients.valueLogits![2]).toBeCloseTo(0.2 - 1, 4);
  });

  test('a token without weight changes nothing', async () => {
    const one = { weight: [0.5], logprobs: [0], returns: [0.5], valueLogits: [1, 0, 2, 0, 0] };
    const two = {
      weight: [0.5, 0],
      logprobs: [0, 0],
      returns: [0.5, 9],
      valueLogits: [1, 0, 2, 0, 0, 9, 9, 0, 0, 0],
    };
    const options = { count: 5, low: 0, high: 1 };
    const [a, b] = [await evaluate(hlGauss(options), one), await evaluate(hlGauss(options), two)];
    expect(b.loss).toBeCloseTo(a.loss, 6);
    close(b.gradients.valueLogits!.slice(5), [0, 0, 0, 0, 0]);
  });
});

describe('ArCHer', () => {
  test('worked targets and advantage', () => {
    close(archerTargets({ reward: 0.2, done: false, nextValues: [0.4, 0.3] }), [0.58, 0.485]);
    close(archerTargets({ reward: 0.2, done: true, nextValues: [0.4, 0.3] }), [0.2, 0.2]);
    expect(archerAdvantage([0.7, 0.55], [0.5, 0.45])).toBeCloseTo(0.1, 10);
    // Digi-Q reads the same recursion: r = 0 and a target of .6, and success.
    close(archerTargets({ reward: 0, done: false, nextValues: [0.6, 0.6] }), [0.57, 0.57]);
    close(archerTargets({ reward: 1, done: true, nextValues: [0.6, 0.6] }), [1, 1]);
  });

  test('actor: loss .17; with baselines .1090, and their error .0031', async () => {
    const numbers = { logprobs: [-0.5, -1, -0.2], advantages: [0.1, 0.1, 0.1] };
    expect((await evaluate(archerActor(), numbers)).loss).toBeCloseTo(0.17, 6);
    const got = await evaluate(archerActor({ tokenBaseline: true }), {
      ...numbers,
      values: [0.05, 0.02, 0.08],
    });
    const error = got.metrics['critic/baseline_loss']!;
    expect(got.loss - error).toBeCloseTo(0.109, 6);
    expect(error / 3).toBeCloseTo(0.0031, 4);
    close(got.gradients.logprobs!, [-0.05, -0.08, -0.02], 6);
    close(got.gradients.values!, [-0.1, -0.16, -0.04], 6);
  });

  const row = {
    weight: [0.5, 0.5, 0.5],
    logprobs: [0, 0, 0],
    actionStart: [1, 0, 0],
    actionEnd: [0, 0, 1],
    'head q1': [9, 9, 0.7],
    'head q2': [9, 9, 0.55],
    'head v1': [0.5, 9, 9],
    'head v2': [0.45, 9, 9],
    q1Target: [0, 0, 0.58],
    q2Target: [0, 0, 0.485],
    v1Target: [0.7, 0, 0],
    v2Target: [0.25, 0, 0],
  };

  test('critic: squared errors where values are read, and nowhere else', async () => {
    const got = await evaluate(archerCritic(), row);
    expect(got.metrics['critic/action_loss']).toBeCloseTo(0.5 * (0.12 ** 2 + 0.065 ** 2), 6);
    expect(got.metrics['critic/state_loss']).toBeCloseTo(0.5 * (0.04 + 0.04), 6);
    close(got.gradients['head q1']!, [0, 0, 0.12], 6);
    close(got.gradients['head v2']!, [0.2, 0, 0], 6);
    for (const head of ['head q2', 'head v1']) {
      close(got.gradients[head]!, await finiteDifferences(archerCritic(), { rows: [row] }, head), 2);
    }
  });

  test('IQL: errors of .2 weigh .0360 above the value and .0040 below', async () => {
    const above = { ...row, weight: [1, 0, 0], v2Target: [0.45, 0, 0] };
    expect((await evaluate(archerIql(), above)).metrics['critic/state_loss']).toBeCloseTo(0.036, 6);
    const below = { ...row, weight: [1, 0, 0], v1Target: [0.3, 0, 0], v2Target: [0.45, 0, 0] };
    expect((await evaluate(archerIql(), below)).metrics['critic/state_loss']).toBeCloseTo(0.004, 6);
  });
});

describe('token-level Q', () => {
  const floats = (...values: number[]): Float32Array => Float32Array.from(values);

  test('targets skip observations and end with the row', () => {
    const step = (...rows: { weight: number[]; rewards: number[] }[]) => viewOf({ rows });
    const one = step({ weight: [1, 0, 1], rewards: [0, 0, 1] });
    close([...temporalTargets(one, floats(9, 9, 0.6), 0.99)], [0.594, 0, 1]);
    const all = step({ weight: [1, 1, 1], rewards: [0, 0, 1] });
    close([...returnsToGo(all, 0.99)], [0.9801, 0.99, 1]);
    close([...returnsToGo(step({ weight: [1, 0, 1], rewards: [0, 5, 1] }), 0.9)], [0.9, 0, 1]);
    close([...returnsToGo(step({ weight: [0, 0], rewards: [1, 1] }), 0.9)], [0, 0]);
    const two = step({ weight: [1, 1], rewards: [0, 1] }, { weight: [1, 1], rewards: [2, 0] });
    close([...returnsToGo(two, 0.5)], [0.5, 1, 2, 0]);
    expect(() => returnsToGo(step({ weight: [1], rewards: [Number.NaN] }), 1)).toThrow(
      'the reward of token 0 of row 0',
    );
  });

  test('ILQL: worked losses', async () => {
    const step = {
      rows: [
        {
          logprobs: [0, 0],
          weight: [1, 1],
          rewards: [0, 0.6],
          ids: [0, 1],
          // Q of the taken tokens: .5 and .4 first, and what makes no error after.
          'head q1': [0.5, -0.5, -1.5, 0, 0.6, 0],
          'head q2': [0.4, 0, 0, 0, 0.6, 0],
          'head v': [0.5, 0.6],
        },
      ],
      heads: { v: [[0.5, 0.6]] },
      frozenHeads: { q1: [[0.45, 0.9]], q2: [[0.7, 0.8]] },
    };
    const got = await evaluateStep(ilql(), step);
    expect(got.metrics['critic/action_loss']).toBeCloseTo(0.5 * (0.094 ** 2 + 0.194 ** 2), 5);
    expect(got.metrics['critic/state_loss']).toBeCloseTo(0.3 * 0.5 * 0.0025 + 0.7 * 0.5 * 0.04, 6);
    close(got.gradients['head v']!, [0.3 * 0.05, -0.7 * 0.2], 5);
    const plain = await evaluateStep(ilql({ conservatism: 0 }), step);
    close(plain.gradients['head q1']!, [-0.094, 0, 0, 0, 0, 0]);
    for (const head of ['head q1', 'head v']) {
      close(got.gradients[head]!, await finiteDifferences(ilql(), step, head), 3);
    }
  });

  test('heads learn what is above the initial value: moved by it, they err alike', async () => {
    const step = (moved: number) => {
      const from = (...values: number[]): number[] => values.map((value) => value - moved);
      const row = { logprobs: [0, 0], weight: [1, 1], rewards: [-1, 0.6], ids: [0, 1] };
      const heads = { 'head q1': from(0.5, -0.5, -1.5, 0, 0.7, 0), 'head q2': from(0.4, 0, 0, 0, 0.2, 0) };
      return {
        rows: [{ ...row, ...heads, 'head v': from(0.5, 0.6) }],
        heads: { v: [from(0.5, 0.6)] },
        frozenHeads: { q1: [from(0.45, 0.9)], q2: [from(0.7, 0.8)] },
      };
    };
    for (const objective of [ilql, mcReturns]) {
      const plain = await evaluateStep(objective({ discount: 0.9 }), step(0));
      const above = await evaluateStep(objective({ discount: 0.9, initialValue: -2 }), step(-2));
      expect(above.loss).toBeCloseTo(plain.loss, 5);
      close(above.gradients['head q1']!, [...plain.gradients['head q1']!], 5);
      expect((await evaluateStep(objective({ discount: 0.9 }), step(-2))).loss).not.toBeCloseTo(
        plain.loss,
        1,
      );
    }
  });

  test('the conservative term: logits 1, 0, -1 cost .4076', async () => {
    const row = { logprobs: [0], weight: [1], rewards: [1], ids: [0], 'head q1': [1, 0, -1] };
    const got = await evaluateStep(mcReturns({ conservatism: 1 }), { rows: [row] });
    expect(got.loss).toBeCloseTo(0.4076, 4);
    expect(got.metrics['critic/action_loss']).toBe(0);
  });

  test('decoding moves the logits by β times Q', () => {
    close(perturbedLogits([-0.5, -1.2, -2.3], [0.4, 0.6, 0.1], 16), [5.9, 8.4, -0.7]);
  });
});

describe('entropy', () => {
  const numbers = {
    logprobs: [-1, -1, -1, -1],
    weight: [0.25, 0.25, 0.25, 0.25],
    entropies: [0.1, 0.5, 1, 1.9],
    historicEntropies: [0.8, 0.8, 0.8, 0.8],
    smoothing: [1, 1, 1, 1],
  };
  const term = async (options: Parameters<typeof entropySmoothing>[0], smoothing = 1) =>
    evaluate(entropySmoothing({ entropyCoefficient: 1, ...options }), {
      ...numbers,
      smoothing: numbers.smoothing.map(() => smoothing),
    });

  test('EPO: worked numbers of the constant penalty, which has no gradient', async () => {
    const narrow = await term({ penalty: 'constant' });
    expect(narrow.metrics['policy/entropy_penalty']).toBeCloseTo(0.1, 6);
    const wide = await term({ penalty: 'constant', low: 0, high: 2 });
    expect(wide.loss).toBeCloseTo(-0.85, 6);
    close(wide.gradients.entropies!, [-0.25, -0.25, -0.25, -0.25], 6);
    expect((await term({ penalty: 'constant', low: 0, high: 2 }, smoothingWeight(75))).loss).toBeCloseTo(
      -0.8543,
      4,
    );
  });

  test('EPO: the hinge pulls what is outside back', async () => {
    const got = await term({});
    close(got.gradients.entropies!, [-0.275, -0.275, -0.225, -0.225], 6);
    const penalty = 0.1 * (0.54 + 0.14 + 0.04 + 0.94);
    expect(got.metrics['policy/entropy_penalty']).toBeCloseTo(penalty / 4, 6);
    const rows = [{ ...numbers }];
    const objective = entropySmoothing({ entropyCoefficient: 1 });
    close(got.gradients.entropies!, await finiteDifferences(objective, { rows }, 'entropies'), 4);
    close(
      (await term({}, 0)).gradients.entropies!,
      (await evaluate(entropyBonus({ entropyCoefficient: 1 }), numbers)).gradients.entropies!,
    );
  });

  test("EPO: the released code's schedule", () => {
    close(
      [0, 37, 75, 76, 112, 150].map((epoch) => smoothingWeight(epoch)),
      [1, 0.8746, 0.8271, 0.7686, 0.1821, 0.0398],
    );
  });

  test('EPO: history is a mean over iterations per step; turns without any are left alone', () => {
    const history = extendEntropyHistory(extendEntropyHistory([], [1, 2]), [3, undefined, 5]);
    expect(history.map(({ mean }) => mean)).toEqual([2, 2, 5]);
    const channels = smoothingChannels(history, [0, 1, 3, 4], 0.5);
    expect([...channels.historicEntropies]).toEqual([0, 2, 5, 0]);
    expect([...channels.smoothing]).toEqual([0, 0.5, 0.5, 0]);
  });
});
