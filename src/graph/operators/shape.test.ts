import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, tabulate } from '../testing/values.ts';
import { multiply } from './elementwise.ts';
import { broadcastTo, concat, reshape, slice, transpose } from './shape.ts';

test('reshape', async () => {
  await checkOperator({
    inputs: [{ shape: [2, 6] }],
    build: ([x]) => reshape(reshape(x!, [3, 4]), [2, 3, 2]),
    reference: ([x]) => tabulate([2, 3, 2], (i, j, k) => at(x!, i, 2 * j + k)),
  });
});

test.each([
  [
    [1, 0],
    [3, 2],
  ],
  [
    [2, 0, 1],
    [4, 2, 3],
  ],
  [
    [0, 2, 1, 3],
    [2, 2, 3, 2],
  ],
])('transpose by %j', async (permutation, shape) => {
  const from = shape.map((_, axis) => shape[permutation.indexOf(axis)]!);
  await checkOperator({
    inputs: [{ shape: from }],
    build: ([x]) => transpose(x!, permutation),
    reference: ([x]) =>
      tabulate(shape, (...i) => at(x!, ...from.map((_, axis) => i[permutation.indexOf(axis)]!))),
  });
});

test.each([
  [[3], [2, 3]],
  [
    [2, 1],
    [2, 3],
  ],
  [[], [2, 2]],
  [
    [1, 2, 1],
    [3, 2, 2],
  ],
])('broadcastTo from %j to %j', async (from, to) => {
  await checkOperator({
    inputs: [{ shape: from }],
    build: ([x]) => broadcastTo(x!, to),
    reference: ([x]) => tabulate(to, (...i) => at(x!, ...i)),
  });
});

test('an expanded operand of a full one is not expanded', () => {
  const graph = new Graph();
  const x = graph.input('x', ['B', 3]);
  const row = graph.input('row', [3]);
  expect(multiply(x, broadcastTo(row, ['B', 3]))).toBe(multiply(x, row));
});

test.each([
  [0, 1, 3],
  [0, 1, undefined],
  [0, 0, -1],
  [0, -3, -1],
  [0, -2, undefined],
  [0, 2, 2],
  [-1, 1, 2],
])('slice of axis %s from %s to %s', async (axis, start, end) => {
  const shape = [4, 3];
  const at0 = axis === 0 ? 0 : 1;
  const kept = Array.from({ length: shape[at0]! }, (_, index) => index).slice(start, end);
  await checkOperator({
    inputs: [{ shape }],
    build: ([x]) => slice(x!, axis, start, end),
    reference: ([x]) =>
      at0 === 0
        ? tabulate([kept.length, 3], (i, j) => at(x!, kept[i]!, j))
        : tabulate([4, kept.length], (i, j) => at(x!, i, kept[j]!)),
  });
});

test('the gradient of a slice of a slice', async () => {
  await checkOperator({
    inputs: [{ shape: [5] }],
    build: ([x]) => multiply(slice(slice(x!, 0, 1), 0, 1, -1), slice(x!, 0, 0, 2)),
    reference: ([x]) => tabulate([2], (i) => at(x!, i + 2) * at(x!, i)),
  });
});

test('concat', async () => {
  await checkOperator({
    inputs: [{ shape: [2, 3] }, { shape: [2, 1] }, { shape: [2, 2] }],
    build: ([a, b, c]) => concat([a!, b!, c!], -1),
    reference: ([a, b, c]) =>
      tabulate([2, 6], (i, j) => (j < 3 ? at(a!, i, j) : j < 4 ? at(b!, i, 0) : at(c!, i, j - 4))),
  });
  await checkOperator({
    inputs: [{ shape: [1, 2] }, { shape: [3, 2] }],
    build: ([a, b]) => concat([a!, b!, a!], 0),
    reference: ([a, b]) => tabulate([5, 2], (i, j) => (i % 4 === 0 ? at(a!, 0, j) : at(b!, i - 1, j))),
  });
});

test('shapes that do not fit', () => {
  const graph = new Graph();
  const x = graph.input('x', ['B', 'T', 4]);
  expect(() => reshape(x, ['B*T', 5])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'reshape' do not fit. Seen: [B, T, 4] and [B*T, 5]. Allowed: a shape with the same number of elements.]`,
  );
  expect(() => reshape(x, ['B*T', 2.5])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: This is not an axis size. Seen: 2.5. Allowed: a non-negative integer, or an expression such as 'B', 'T-1' or 'B*T'.]`,
  );
  expect(() => transpose(x, [0, 1])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'transpose' do not fit. Seen: [B, T, 4]. Allowed: a permutation of its axes, not 0,1.]`,
  );
  expect(() => broadcastTo(x, ['B', 4])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'broadcastTo' do not fit. Seen: [B, T, 4] and [B, 4]. Allowed: equal sizes or 1 on every axis, aligned from the right.]`,
  );
  expect(() => slice(x, 2, 1, 6)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'slice' do not fit. Seen: [B, T, 4]. Allowed: a range within 4, not 1 to 6.]`,
  );
  expect(() => slice(x, 1, 2, 1)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'slice' do not fit. Seen: [B, T, 4]. Allowed: on a symbolic axis, both bounds from the same end or from the outside in.]`,
  );
  expect(() => slice(x, 3, 0)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'slice' do not fit. Seen: [B, T, 4]. Allowed: an axis from -3 to 2, not 3.]`,
  );
  expect(() => concat([x, graph.input('y', ['B', 'S', 3])], 1)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'concat' do not fit. Seen: [B, T, 4] and [B, S, 3]. Allowed: equal sizes on every axis but 1.]`,
  );
  expect(() => concat([x, graph.input('z', ['B', 'S', 4])], 1)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'concat' do not fit. Seen: [T] and [S]. Allowed: at most one symbolic size along the axis.]`,
  );
  expect(() => concat([], 1)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: 'concat' was given no tensors. Allowed: at least one.]`,
  );
});
