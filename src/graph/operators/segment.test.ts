import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, range, tabulate, total } from '../testing/values.ts';
import { cast } from './logic.ts';
import { segmentSum } from './segment.ts';

test('sums over equal labels of a row, contiguous or not', async () => {
  const labels = [1, 2, 1, 0, 2, 5, 5, 5, 5, 5];
  await checkOperator({
    inputs: [{ shape: [2, 5] }],
    integers: [{ shape: [2, 5], values: labels }],
    build: ([x], [ids]) => segmentSum(x!, cast(ids!, 'float32')),
    reference: ([x]) =>
      tabulate([2, 5], (b, t) =>
        total(range(5).map((s) => (labels[5 * b + s] === labels[5 * b + t] ? at(x!, b, s) : 0))),
      ),
  });
});

test('the size of both axes may be open', () => {
  const graph = new Graph();
  expect(segmentSum(graph.input('x', ['B', 'T']), graph.input('labels', ['B', 'T'])).shape).toEqual([
    'B',
    'T',
  ]);
});

test('labels must have the shape of the values', () => {
  const graph = new Graph();
  expect(() =>
    segmentSum(graph.input('x', ['B', 'T']), graph.input('labels', ['T'])),
  ).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'segmentSum' do not fit. Seen: [B, T] and [T]. Allowed: values and labels of one shape [B, T].]`,
  );
});
