import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, range, tabulate, total } from '../testing/values.ts';
import { segmentSum } from './segment.ts';

test('sums over the elements of a segment, contiguous or not', async () => {
  const segments = [0, 1, 0, 3, 1, 4, 4, 0];
  await checkOperator({
    inputs: [{ shape: [8] }],
    integers: [{ shape: [8], values: segments }],
    build: ([x], [ids]) => segmentSum(x!, ids!),
    reference: ([x]) =>
      tabulate([8], (n) => total(range(8).map((m) => (segments[m] === segments[n] ? at(x!, m) : 0)))),
  });
});

test('the size of the axis may be open', () => {
  const graph = new Graph();
  expect(segmentSum(graph.input('x', ['N']), graph.input('segments', ['N'], 'int64')).shape).toEqual(['N']);
});

test('segments must have the shape of the values', () => {
  const graph = new Graph();
  expect(() =>
    segmentSum(graph.input('x', ['N']), graph.input('segments', ['M'], 'int64')),
  ).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'segmentSum' do not fit. Seen: [N] and [M]. Allowed: values and segments of one shape [N].]`,
  );
});
