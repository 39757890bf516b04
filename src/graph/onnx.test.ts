import { expect, test } from 'vitest';
import { gradients } from './gradient.ts';
import { Graph } from './graph.ts';
import { type Feed, loadGraph } from './node/loaded-graph.ts';
import { toOnnx, withInitializers } from './onnx.ts';
import { add, multiply } from './operators/elementwise.ts';
import { rmsNorm } from './operators/fused.ts';
import { gatherLast, gatherRows, scatterLast } from './operators/gather.ts';
import { matmul } from './operators/matrix.ts';
import { mean, sum } from './operators/reduce.ts';
import { broadcastTo, concat, reshape, slice, transpose } from './operators/shape.ts';
import type { Tensor } from './tensor.ts';
import { expectClose } from './testing/check-operator.ts';

/** Values of `outputs` at some inputs. */
async function run(
  outputs: Record<string, Tensor>,
  feeds: Record<string, Feed>,
): Promise<Record<string, Float32Array>> {
  const session = await loadGraph(toOnnx(outputs), { threads: 1 });
  const result = await session.run(
    Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]!])),
  );
  await session.close();
  return result;
}

const count = (shape: readonly number[]): Feed => ({
  shape,
  data: Float32Array.from({ length: shape.reduce((total, size) => total * size, 1) }, (_, i) => i),
});

test('one session serves every size of a symbolic axis', async () => {
  const graph = new Graph();
  const x = graph.input('x', ['B', 'T', 4]);
  const ids = graph.input('ids', ['B', 'T'], 'int64');
  const w = graph.parameter('w', [3, 4]);
  const heads = transpose(reshape(x, ['B', 'T', 2, 2]), [0, 2, 1, 3]);
  const scores = matmul(heads, heads, { transposeB: true });
  const projected = matmul(rmsNorm(x, graph.constant([1, 2, 3, 4]), 0.1), w, { transposeB: true });
  const shifted = concat([slice(projected, 1, 1), broadcastTo(graph.constant([1, 2, 3]), ['B', 1, 3])], 1);
  const first = slice(projected, 1, 0, 1);
  const loss = add(
    mean(multiply(gatherLast(shifted, ids), 3)),
    add(sum(multiply(first, first)), mean(multiply(scores, scores), [0, 1, 2, 3])),
  );
  const [toX, toW] = gradients(loss, [x, w]);
  const flat = reshape(slice(x, 1, 1, -1), ['B*(T-2)', 4]);
  expect(flat.shape).toEqual(['B*(T-2)', 4]);
  const session = await loadGraph(toOnnx({ loss, toX: toX!, toW: toW!, flat }), { threads: 1 });
  for (const [B, T] of [
    [1, 3],
    [2, 5],
  ] as const) {
    const weights = Float32Array.from({ length: 12 }, (_, i) => Math.sin(i));
    const values = Float32Array.from({ length: B * T * 4 }, (_, i) => Math.cos(i));
    const feeds: Record<string, Feed> = {
      x: { data: values, shape: [B, T, 4] },
      ids: { data: BigInt64Array.from({ length: B * T }, (_, i) => BigInt(i % 3)), shape: [B, T] },
      w: { data: weights, shape: [3, 4] },
    };
    const result = await session.run(feeds);
    expect(result.flat!.length).toBe(B * (T - 2) * 4);
    for (const [data, gradient] of [
      [values, result.toX!],
      [weights, result.toW!],
    ] as const) {
      expect(gradient.length).toBe(data.length);
      const numeric: number[] = [];
      for (const [i, kept] of data.entries()) {
        const loss = async (value: number): Promise<number> => {
          data[i] = value;
          return (await session.run(feeds, ['loss'])).loss![0]!;
        };
        numeric.push(((await loss(kept + 0.01)) - (await loss(kept - 0.01))) / 0.02);
        data[i] = kept;
      }
      for (const [i, want] of numeric.entries()) expect(Math.abs(gradient[i]! - want)).toBeLessThan(3e-3);
    }
  }
  await session.close();
});

test('only what the outputs need is written, once', async () => {
  const graph = new Graph();
  const a = graph.input('a', ['N']);
  const b = graph.input('b', ['N']);
  multiply(b, b);
  const y = multiply(add(a, 1), add(a, 1));
  expect(graph.input('a', ['N'])).toBe(a);
  const session = await loadGraph(toOnnx({ y, same: y, copy: a, z: add(y, a) }), { threads: 1 });
  expect(session.inputNames).toEqual(['a']);
  expect(session.outputNames).toEqual(['y', 'same', 'copy', 'z']);
  const result = await session.run({ a: count([3]) }, ['z', 'y', 'same', 'copy']);
  expect([...result.copy!]).toEqual([0, 1, 2]);
  expect([...result.y!]).toEqual([1, 4, 9]);
  expect([...result.same!]).toEqual([1, 4, 9]);
  expect([...result.z!]).toEqual([1, 5, 11]);
  await session.close();
});

test('parameters become initializers', async () => {
  const graph = new Graph();
  const x = graph.input('x', ['N', 2]);
  const y = matmul(x, add(graph.parameter('w', [2, 2]), graph.parameter('v', [2, 2])));
  const model = toOnnx({ y }, { initializers: new Set(['w']) });
  const weights = (...data: number[]) => new Map([['w', { shape: [2, 2], data: Float32Array.from(data) }]]);
  for (const [data, want] of [
    [
      [1, 2, 3, 4],
      [5, 7],
    ],
    [
      [0, 0, 0, 1],
      [2, 4],
    ],
  ] as const) {
    const session = await loadGraph(withInitializers(model, weights(...data)), { threads: 1 });
    expect([...session.inputNames].sort()).toEqual(['v', 'x']);
    const result = await session.run({ x: count([1, 2]), v: count([2, 2]) });
    expect([...result.y!]).toEqual(want);
    await session.close();
  }
  await expect(loadGraph(model, { threads: 1 })).rejects.toThrow("'w' is not a graph input");
  expect(() => withInitializers(model, weights(1))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The initializer 'w' has another number of values than its shape. Seen: 1 values for [2, 2].]`,
  );
});

test('constants of both types keep their values', async () => {
  const graph = new Graph();
  const table = graph.constant(Float32Array.of(1.5, -2.5, 3.25, 1e-30), [2, 2]);
  const rows = gatherRows(table, graph.constant(BigInt64Array.of(1n, 0n, 1n), [3]));
  const { y } = await run({ y: rows }, {});
  expect([...y!]).toEqual([...Float32Array.of(3.25, 1e-30, 1.5, -2.5, 3.25, 1e-30)]);
  expect(graph.constant(2)).toBe(graph.constant(2));
  expect(graph.constant(0)).not.toBe(graph.constant(-0));
  expect(() => graph.constant([1, 2], [3])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A constant has another number of values than its shape. Seen: 2 values for [3].]`,
  );
});

test('scatters into repeated places add in a fixed order', async () => {
  const graph = new Graph();
  const table = graph.parameter('table', [3, 64]);
  const ids = graph.input('ids', ['N'], 'int64');
  const gradient = gradients(sum(multiply(gatherRows(table, ids), graph.input('u', ['N', 64]))), [table])[0]!;
  const N = 1000;
  const u = Float32Array.from({ length: N * 64 }, (_, i) => Math.sin(i));
  const feeds = { ids: { data: new BigInt64Array(N).fill(1n), shape: [N] }, u: { data: u, shape: [N, 64] } };
  const session = await loadGraph(toOnnx({ gradient }), { threads: 2 });
  const first = await session.run(feeds);
  const column = Array.from({ length: 64 }, (_, d) =>
    u.filter((_, i) => i % 64 === d).reduce((a, b) => a + b, 0),
  );
  expectClose(first.gradient!.subarray(64, 128), column, 'sum over repeated ids');
  for (let i = 0; i < 5; i++) expect(await session.run(feeds)).toEqual(first);
  await session.close();
});

test('what cannot be written', () => {
  const graph = new Graph();
  const x = graph.input('x', ['N']);
  const lost = broadcastTo(graph.constant(1), ['M']);
  expect(() => toOnnx({ lost })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A symbolic size cannot be read from any input that the outputs need. Seen: M. Give an input of the graph an axis of this size, or use a number.]`,
  );
  expect(() => graph.input('x', ['M'])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Two inputs of a graph have the same name but another shape, type or kind. Seen: 'x' as input [N] float32 and as input [M] float32.]`,
  );
  expect(() => graph.parameter('x', [2])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Two inputs of a graph have the same name but another shape, type or kind. Seen: 'x' as input [N] float32 and as parameter [2] float32.]`,
  );
  expect(() => toOnnx({ x: add(x, 1) })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: An output of a model has the name of one of its inputs. Seen: 'x'. Name the output differently.]`,
  );
  expect(() => toOnnx({ z: x, y: new Graph().input('y', []) })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A tensor was used in a graph that it does not belong to. Create all tensors of a computation from one Graph.]`,
  );
  expect(() => scatterLast(x, x, x)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The types given to 'scatterLast' do not fit. Seen: float32. Allowed: int64. Convert with cast().]`,
  );
});
