import { describe, expect, it } from 'vitest';
import type { AdamOptions } from '../engine.ts';
import { adamStep, createAdamState } from './adam.ts';

const options: AdamOptions = {
  learningRate: 0.1,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-8,
  weightDecay: 0,
  clipNorm: 0,
};

const weightsOf = (matrix: readonly number[], norm: readonly number[]) =>
  new Map([
    ['matrix', { shape: [1, matrix.length], data: Float32Array.from(matrix) }],
    ['norm', { shape: [norm.length], data: Float32Array.from(norm) }],
  ]);

const gradientsOf = (matrix: readonly number[], norm: readonly number[]) =>
  new Map([
    ['matrix', Float32Array.from(matrix)],
    ['norm', Float32Array.from(norm)],
  ]);

describe('adamStep', () => {
  it('moves every weight by the learning rate on the first step, whatever the size of its gradient', () => {
    const weights = weightsOf([1, 2], [3]);
    const result = adamStep(weights, gradientsOf([1e-3, -40], [7]), createAdamState(weights), options);
    expect(weights.get('matrix')!.data[0]).toBeCloseTo(0.9, 5);
    expect(weights.get('matrix')!.data[1]).toBeCloseTo(2.1, 5);
    expect(weights.get('norm')!.data[0]).toBeCloseTo(2.9, 5);
    expect(result.applied).toBe(true);
    expect(result.gradientNorm).toBeCloseTo(Math.hypot(1e-3, 40, 7), 5);
  });

  it('follows the formula over several steps', () => {
    const weights = weightsOf([0.5], [1]);
    const state = createAdamState(weights);
    let [w, m, v] = [0.5, 0, 0];
    for (const [step, gradient] of [0.3, -0.2, 0.05, 0.4].entries()) {
      adamStep(weights, gradientsOf([gradient], [0]), state, options);
      m = 0.9 * m + 0.1 * gradient;
      v = 0.99 * v + 0.01 * gradient ** 2;
      w -= (0.1 * (m / (1 - 0.9 ** (step + 1)))) / (Math.sqrt(v / (1 - 0.99 ** (step + 1))) + 1e-8);
    }
    expect(weights.get('matrix')!.data[0]).toBeCloseTo(w, 6);
    expect(state.step).toBe(4);
  });

  it('decays matrices only, independently of the gradient', () => {
    const weights = weightsOf([2], [2]);
    adamStep(weights, gradientsOf([0], [0]), createAdamState(weights), { ...options, weightDecay: 0.5 });
    expect(weights.get('matrix')!.data[0]).toBeCloseTo(2 * (1 - 0.1 * 0.5), 6);
    expect(weights.get('norm')!.data[0]).toBe(2);
  });

  it('clips by the norm over all parameters', () => {
    const clipped = weightsOf([0], [0]);
    const state = createAdamState(clipped);
    const { gradientNorm } = adamStep(clipped, gradientsOf([3], [4]), state, { ...options, clipNorm: 1 });
    expect(gradientNorm).toBe(5);
    expect(state.first.get('matrix')![0]).toBeCloseTo(0.1 * 0.6, 6);
    expect(state.second.get('norm')![0]).toBeCloseTo(0.01 * 0.64, 6);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('changes nothing when a gradient is %s', (bad) => {
    const weights = weightsOf([1], [1]);
    const state = createAdamState(weights);
    expect(adamStep(weights, gradientsOf([0.1], [bad]), state, options).applied).toBe(false);
    expect(weights).toEqual(weightsOf([1], [1]));
    expect(state).toEqual(createAdamState(weights));
  });
});
