import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import wabt from 'wabt';
import type { AdamOptions } from '../../engine.ts';
import { Adam } from './adam.ts';
import { adamKernel } from './adam-kernel.ts';

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

/** A step of one lane: the norm, and unless it is not finite, the update. */
function step(
  adam: Adam,
  weights: ReturnType<typeof weightsOf>,
  gradients: ReturnType<typeof gradientsOf>,
  asked = options,
) {
  let squares = 0;
  for (const gradient of gradients.values()) squares += adam.gather(gradient);
  const norm = Math.sqrt(squares);
  adam.apply(weights, gradients, asked, norm);
  return norm;
}

describe('Adam', () => {
  it('moves every weight by the learning rate on the first step, whatever the size of its gradient', () => {
    const weights = weightsOf([1, 2], [3]);
    const norm = step(new Adam(weights), weights, gradientsOf([1e-3, -40], [7]));
    expect(weights.get('matrix')!.data[0]).toBeCloseTo(0.9, 5);
    expect(weights.get('matrix')!.data[1]).toBeCloseTo(2.1, 5);
    expect(weights.get('norm')!.data[0]).toBeCloseTo(2.9, 5);
    expect(norm).toBeCloseTo(Math.hypot(1e-3, 40, 7), 5);
  });

  it('follows the formula over several steps', () => {
    const weights = weightsOf([0.5], [1]);
    const state = new Adam(weights);
    let [w, m, v] = [0.5, 0, 0];
    for (const [index, gradient] of [0.3, -0.2, 0.05, 0.4].entries()) {
      step(state, weights, gradientsOf([gradient], [0]));
      m = 0.9 * m + 0.1 * gradient;
      v = 0.99 * v + 0.01 * gradient ** 2;
      w -= (0.1 * (m / (1 - 0.9 ** (index + 1)))) / (Math.sqrt(v / (1 - 0.99 ** (index + 1))) + 1e-8);
    }
    expect(weights.get('matrix')!.data[0]).toBeCloseTo(w, 6);
    expect([...state.steps.values()]).toEqual([4, 4]);
  });

  it('reaches every weight of tensors that fill no whole number of pieces', () => {
    const length = 40_003;
    const random = (seed: number) => (_: unknown, index: number) => Math.sin(seed + index * index);
    const values = Float32Array.from({ length }, random(1));
    const gradient = Float32Array.from({ length }, random(2));
    const weights = weightsOf([...values], [1, 2, 3]);
    const adam = new Adam(weights);
    for (let count = 0; count < 2; count++)
      step(adam, weights, gradientsOf([...gradient], [0, 0, 0]), { ...options, epsilon: 0.1 });
    const expected = values.map(
      (value, index) => value - (2 * 0.1 * gradient[index]!) / (Math.abs(gradient[index]!) + 0.1),
    );
    const worst = expected.reduce(
      (most, value, index) => Math.max(most, Math.abs(value - weights.get('matrix')!.data[index]!)),
      0,
    );
    expect(worst).toBeLessThan(1e-5);
    expect([...weights.get('norm')!.data]).toEqual([1, 2, 3]);
  });

  it('goes on from the state of another', () => {
    const [one, other] = [weightsOf([1, 2, 3], [4]), weightsOf([1, 2, 3], [4])];
    const [first, second] = [new Adam(one), new Adam(other)];
    const gradients = gradientsOf([0.1, -0.2, 0.3], [0.4]);
    step(first, one, gradients);
    step(second, other, gradients);
    const third = new Adam(other);
    third.restore(second);
    step(first, one, gradients);
    step(third, other, gradients);
    expect(other).toEqual(one);
    expect([...third.steps.values()]).toEqual([2, 2]);
  });

  it('a parameter that waited takes its first step like one of a new optimizer', () => {
    const [one, fresh] = [weightsOf([1, 2], [4]), weightsOf([1, 2], [4])];
    const adam = new Adam(one);
    const norm = () => new Map([...one].filter(([name]) => name === 'norm'));
    for (let count = 0; count < 3; count++) adam.apply(norm(), gradientsOf([9, 9], [0.4]), options, 1);
    expect([...one.get('matrix')!.data]).toEqual([1, 2]);
    expect(Object.fromEntries(adam.steps)).toEqual({ matrix: 0, norm: 3 });
    step(adam, one, gradientsOf([0.1, -0.2], [0.4]));
    step(new Adam(fresh), fresh, gradientsOf([0.1, -0.2], [0.4]));
    expect(one.get('matrix')).toEqual(fresh.get('matrix'));
  });

  it('decays matrices only, independently of the gradient', () => {
    const weights = weightsOf([2], [2]);
    step(new Adam(weights), weights, gradientsOf([0], [0]), { ...options, weightDecay: 0.5 });
    expect(weights.get('matrix')!.data[0]).toBeCloseTo(2 * (1 - 0.1 * 0.5), 6);
    expect(weights.get('norm')!.data[0]).toBe(2);
  });

  it('clips by the norm over all parameters', () => {
    const clipped = weightsOf([0], [0]);
    const state = new Adam(clipped);
    expect(step(state, clipped, gradientsOf([3], [4]), { ...options, clipNorm: 1 })).toBe(5);
    expect(state.first.get('matrix')![0]).toBeCloseTo(0.1 * 0.6, 6);
    expect(state.second.get('norm')![0]).toBeCloseTo(0.01 * 0.64, 6);
  });

  it('adds what others found before it squares', () => {
    const length = 16_390;
    const values = (seed: number) =>
      Float32Array.from({ length }, (_, index) => Math.sin(seed + index * index));
    const [own, ...others] = [values(1), values(2), values(3)] as const;
    const sums = own.map((value, index) => Math.fround(value + others[0]![index]!) + others[1]![index]!);
    const squares = new Adam(new Map()).gather(own, others);
    expect(own).toEqual(sums);
    expect(squares).toBeCloseTo(
      sums.reduce((total, value) => total + value * value, 0),
      2,
    );
  });
});

describe('adamKernel', () => {
  it('is assembled from adam-kernel.wat', async () => {
    const source = await readFile(new URL('adam-kernel.wat', import.meta.url), 'utf8');
    const bytes = (await wabt()).parseWat('adam-kernel.wat', source, { simd: true }).toBinary({}).buffer;
    expect(Buffer.from(adamKernel).equals(Buffer.from(bytes)), 'run `npm run assemble`').toBe(true);
  });
});
