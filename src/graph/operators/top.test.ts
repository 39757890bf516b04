import { expect, test } from 'vitest';
import { gradients } from '../gradient.ts';
import { Graph } from '../graph.ts';
import { loadGraph } from '../node/loaded-graph.ts';
import { toOnnx } from '../onnx.ts';
import { multiply } from './elementwise.ts';
import { gatherEach } from './gather.ts';
import { cast } from './logic.ts';
import { sum } from './reduce.ts';
import { top } from './top.ts';

test('the largest of each row in falling order, the first of equal ones first', async () => {
  const graph = new Graph();
  const { values, ids } = top(graph.input('x', ['N', 4]), 3);
  const session = await loadGraph(toOnnx({ values, ids: cast(ids, 'float32') }), { threads: 1 });
  const found = await session.run({ x: { data: Float32Array.of(1, 4, 2, 4, -1, -3, 0, -2), shape: [2, 4] } });
  await session.close();
  expect([...found.values!]).toEqual([4, 4, 2, 0, -1, -2]);
  expect([...found.ids!]).toEqual([1, 3, 2, 2, 0, 3]);
});

test('several values of each row are read, and repeated ids add their gradients', async () => {
  const graph = new Graph();
  const x = graph.parameter('x', [2, 3]);
  const ids = graph.input('ids', [2, 2], 'int64');
  const read = gatherEach(x, graph.input('rows', [2], 'int64'), ids);
  const loss = sum(multiply(read, graph.input('weights', [2, 2])));
  const session = await loadGraph(toOnnx({ read, slopes: gradients(loss, [x])[0]! }), { threads: 1 });
  const found = await session.run({
    x: { data: Float32Array.of(10, 11, 12, 20, 21, 22), shape: [2, 3] },
    rows: { data: BigInt64Array.of(0n, 1n), shape: [2] },
    ids: { data: BigInt64Array.of(2n, 0n, 1n, 1n), shape: [2, 2] },
    weights: { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] },
  });
  await session.close();
  expect([...found.read!]).toEqual([12, 10, 21, 21]);
  expect([...found.slopes!]).toEqual([2, 0, 1, 0, 7, 0]);
});

test('ids of another number of rows are refused', () => {
  const graph = new Graph();
  const rows = graph.input('rows', [2], 'int64');
  const ids = graph.input('ids', [3, 2], 'int64');
  expect(() => gatherEach(graph.input('x', [2, 3]), rows, ids)).toThrow('gatherEach');
});
