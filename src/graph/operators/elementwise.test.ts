import { describe, expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import type { Tensor } from '../tensor.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, erfReference, tabulate } from '../testing/values.ts';
import {
  add,
  clamp,
  divide,
  maximum,
  minimum,
  multiply,
  negate,
  type Operand,
  subtract,
} from './elementwise.ts';
import { gelu, silu } from './fused.ts';
import { absolute, erf, exp, log, sigmoid, sign, sqrt, square, tanh } from './unary.ts';

const shapes = [
  [
    [2, 3],
    [2, 3],
    [2, 3],
  ],
  [[2, 3], [3], [2, 3]],
  [[3], [2, 3], [2, 3]],
  [
    [2, 1, 3],
    [4, 1],
    [2, 4, 3],
  ],
  [[], [2, 2], [2, 2]],
  [[1, 1], [1], [1, 1]],
  [[], [], []],
] as const;

const binary: Record<string, [(a: Operand, b: Operand) => Tensor, (a: number, b: number) => number]> = {
  add: [add, (a, b) => a + b],
  subtract: [subtract, (a, b) => a - b],
  multiply: [multiply, (a, b) => a * b],
  divide: [divide, (a, b) => a / b],
  minimum: [minimum, Math.min],
  maximum: [maximum, Math.max],
};

describe.each(Object.entries(binary))('%s', (name, [build, reference]) => {
  const bounds = name === 'divide' ? { low: 0.5 } : {};
  test.each(shapes)('%j with %j', async (left, right, shape) => {
    await checkOperator({
      inputs: [{ shape: left }, { shape: right, ...bounds }],
      build: ([a, b]) => build(a!, b!),
      reference: ([a, b]) => tabulate(shape, (...i) => reference(at(a!, ...i), at(b!, ...i))),
    });
  });
  test('of a tensor with itself', async () => {
    await checkOperator({
      inputs: [{ shape: [3], low: 0.5 }],
      build: ([a]) => add(build(a!, a!), a!),
      // Equal operands: all of the gradient goes to the first, which is the same tensor.
      reference: ([a]) => tabulate([3], (i) => reference(at(a!, i), at(a!, i)) + at(a!, i)),
    });
  });
  test('with numbers', async () => {
    await checkOperator({
      inputs: [{ shape: [4], low: 0.5 }],
      build: ([a]) => build(1.25, build(a!, 0.75)),
      reference: ([a]) => tabulate([4], (i) => reference(1.25, reference(at(a!, i), 0.75))),
    });
  });
});

const unary: Record<string, [(x: Tensor) => Tensor, (x: number) => number, number?]> = {
  negate: [negate, (x) => -x],
  exp: [exp, Math.exp],
  log: [log, Math.log, 0.2],
  sqrt: [sqrt, Math.sqrt, 0.2],
  square: [square, (x) => x * x],
  absolute: [absolute, Math.abs],
  sign: [sign, Math.sign],
  sigmoid: [sigmoid, (x) => 1 / (1 + Math.exp(-x))],
  tanh: [tanh, Math.tanh],
  erf: [erf, erfReference],
  silu: [silu, (x) => x / (1 + Math.exp(-x))],
  gelu: [gelu, (x) => (x / 2) * (1 + erfReference(x * Math.SQRT1_2))],
  clamp: [(x) => clamp(x, -0.5, 0.75), (x) => Math.min(0.75, Math.max(-0.5, x))],
};

test.each(Object.entries(unary))('%s', async (_name, [build, reference, low = -3]) => {
  for (const shape of [[2, 3, 2], [5], []]) {
    await checkOperator({
      inputs: [{ shape, low, high: 3 }],
      build: ([x]) => build(x!),
      reference: ([x]) => tabulate(shape, (...i) => reference(at(x!, ...i))),
    });
  }
});

test('far from zero the activations neither overflow nor lose their gradient', async () => {
  for (const [build, reference] of [unary.gelu!, unary.silu!]) {
    for (const [low, high] of [
      [-30, -8],
      [8, 30],
    ] as const) {
      await checkOperator({
        inputs: [{ shape: [4], low, high }],
        build: ([x]) => build(x!),
        reference: ([x]) =>
          tabulate([4], (i) => (build === gelu ? Math.max(0, at(x!, i)) : reference(at(x!, i)))),
      });
    }
  }
});

test('shapes that do not broadcast, and mixed types', () => {
  const graph = new Graph();
  const a = graph.input('a', ['B', 3]);
  const b = graph.input('b', ['T', 3]);
  const ids = graph.input('ids', ['B', 3], 'int64');
  expect(() => add(a, b)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'add' do not fit. Seen: [B, 3] and [T, 3]. Allowed: equal sizes or 1 on every axis, aligned from the right.]`,
  );
  expect(() => multiply(a, ids)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The types given to 'multiply' do not fit. Seen: float32 and int64. Allowed: float32 or int64. Convert with cast().]`,
  );
  expect(() => exp(ids)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The types given to 'exp' do not fit. Seen: int64. Allowed: float32. Convert with cast().]`,
  );
  expect(() => add(1, 2)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: An operator was given numbers only. Allowed: at least one tensor among the operands.]`,
  );
  expect(() => add(a, new Graph().input('a', ['B', 3]))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A tensor was used in a graph that it does not belong to. Create all tensors of a computation from one Graph.]`,
  );
});
