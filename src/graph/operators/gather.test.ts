import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, range, tabulate, total } from '../testing/values.ts';
import { multiply } from './elementwise.ts';
import { gatherLast, gatherLogSoftmax, gatherRows, scatterLast } from './gather.ts';
import { logSoftmax, sum } from './reduce.ts';

test.each([
  [[3], [0, 3, 3]],
  [
    [2, 2],
    [1, 1, 1, 0],
  ],
  [[1], [2]],
])('gatherRows with ids of shape %j adds the gradients of repeated ids', async (shape, values) => {
  const ids = { shape, values };
  await checkOperator({
    inputs: [{ shape: [4, 2] }],
    integers: [ids],
    build: ([table], [rows]) => gatherRows(table!, rows!),
    reference: ([table]) =>
      tabulate([...shape, 2], (...index) => {
        const flat = shape.length === 1 ? index[0]! : index[0]! * shape[1]! + index[1]!;
        return at(table!, values[flat]!, index.at(-1)!);
      }),
  });
});

const ids = { shape: [2, 2], values: [0, 2, 1, 1] };
const id = (i: number, j: number): number => ids.values[2 * i + j]!;

test('gatherLast and scatterLast', async () => {
  await checkOperator({
    inputs: [{ shape: [2, 2, 3] }],
    integers: [ids],
    build: ([x], [at]) => gatherLast(x!, at!),
    reference: ([x]) => tabulate([2, 2], (i, j) => at(x!, i, j, id(i, j))),
  });
  await checkOperator({
    inputs: [{ shape: [2, 2, 3] }, { shape: [2, 2] }],
    integers: [ids],
    build: ([x, updates], [at]) => scatterLast(x!, at!, updates!),
    reference: ([x, updates]) =>
      tabulate([2, 2, 3], (i, j, v) => at(x!, i, j, v) + (id(i, j) === v ? at(updates!, i, j) : 0)),
  });
});

test('gatherLogSoftmax, alone and beside an entropy of the same logits', async () => {
  await checkOperator({
    inputs: [{ shape: [2, 2, 3] }],
    integers: [ids],
    build: ([logits], [at]) => gatherLogSoftmax(logits!, at!),
    reference: ([logits]) =>
      tabulate([2, 2], (i, j) => {
        const row = range(3).map((v) => at(logits!, i, j, v));
        return row[id(i, j)]! - Math.log(total(row.map(Math.exp)));
      }),
  });
  await checkOperator({
    inputs: [{ shape: [1, 1, 3] }],
    integers: [{ shape: [1, 1], values: [2] }],
    build: ([logits], [at]) => multiply(gatherLogSoftmax(logits!, at!), sum(logSoftmax(logits!), [-1])),
    reference: ([logits]) =>
      tabulate([1, 1], () => {
        const row = range(3).map((v) => at(logits!, 0, 0, v));
        const normalizer = Math.log(total(row.map(Math.exp)));
        return (row[2]! - normalizer) * total(row.map((value) => value - normalizer));
      }),
  });
});

test('ids of another type or shape', () => {
  const graph = new Graph();
  const table = graph.parameter('table', [4, 2]);
  const rows = graph.input('ids', ['B', 'T'], 'int64');
  const x = graph.input('x', ['B', 'T', 5]);
  expect(() => gatherRows(table, table)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The types given to 'gatherRows' do not fit. Seen: float32. Allowed: int64. Convert with cast().]`,
  );
  expect(() => gatherRows(x, rows)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'gatherRows' do not fit. Seen: [B, T, 5] and [B, T]. Allowed: a table of two axes.]`,
  );
  expect(() => gatherLast(x, graph.input('others', ['B', 'S'], 'int64'))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'gatherLast' do not fit. Seen: [B, T, 5] and [B, S]. Allowed: ids shaped like the first tensor without its last axis.]`,
  );
  expect(() => scatterLast(x, rows, x)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'scatterLast' do not fit. Seen: [B, T, 5] and [B, T] and [B, T, 5]. Allowed: ids and updates shaped like the first tensor without its last axis.]`,
  );
});
