import { expect, test } from 'vitest';
import { gradients } from './gradient.ts';
import { Graph } from './graph.ts';
import { loadGraph } from './node/loaded-graph.ts';
import { toOnnx } from './onnx.ts';
import { add, multiply } from './operators/elementwise.ts';
import { rmsNorm } from './operators/fused.ts';
import { gatherRows } from './operators/gather.ts';
import { greater, stopGradient } from './operators/logic.ts';
import { matmul } from './operators/matrix.ts';
import { mean, softmax, sum } from './operators/reduce.ts';
import { exp, square, tanh } from './operators/unary.ts';
import { checkOperator } from './testing/check-operator.ts';
import { at, range, tabulate, total } from './testing/values.ts';

test('a net of two layers', async () => {
  const [rows, inputs, hidden, outputs] = [3, 2, 4, 3];
  await checkOperator({
    inputs: [
      { shape: [rows, inputs] },
      { shape: [hidden, inputs] },
      { shape: [hidden] },
      { shape: [outputs, hidden] },
    ],
    build: ([x, first, bias, second]) =>
      softmax(
        matmul(tanh(add(matmul(x!, first!, { transposeB: true }), bias!)), second!, { transposeB: true }),
      ),
    reference: ([x, first, bias, second]) => {
      const activation = tabulate([rows, hidden], (r, h) =>
        Math.tanh(total(range(inputs).map((i) => at(x!, r, i) * at(first!, h, i))) + at(bias!, h)),
      );
      const scores = tabulate([rows, outputs], (r, o) =>
        Math.exp(total(range(hidden).map((h) => at(activation, r, h) * at(second!, o, h)))),
      );
      return tabulate(
        [rows, outputs],
        (r, o) => at(scores, r, o) / total(range(outputs).map((v) => at(scores, r, v))),
      );
    },
  });
});

test('a tensor used several times gets the sum of its gradients', async () => {
  await checkOperator({
    inputs: [{ shape: [3] }],
    build: ([x]) => add(multiply(x!, exp(x!)), square(add(x!, x!))),
    reference: ([x]) => tabulate([3], (i) => at(x!, i) * Math.exp(at(x!, i)) + 4 * at(x!, i) ** 2),
  });
});

test('a gradient can be differentiated again', async () => {
  await checkOperator({
    inputs: [{ shape: [2, 2] }],
    build: ([x]) => gradients(sum(multiply(tanh(x!), square(x!))), [x!])[0]!,
    reference: ([x]) =>
      tabulate([2, 2], (...i) => {
        const v = at(x!, ...i);
        return (1 - Math.tanh(v) ** 2) * v * v + Math.tanh(v) * 2 * v;
      }),
  });
});

test('zeros where the loss does not depend on a parameter', async () => {
  const graph = new Graph();
  const [used, unused, stopped] = ['used', 'unused', 'stopped'].map((name) => graph.parameter(name, [2, 3]));
  const loss = sum(multiply(used!, stopGradient(stopped!)));
  const [a, b, c] = gradients(loss, [used!, unused!, stopped!]);
  const session = await loadGraph(toOnnx({ a: a!, b: b!, c: c! }), { threads: 1 });
  expect(session.inputNames).toEqual(['stopped']);
  const result = await session.run({ stopped: { data: Float32Array.of(1, 2, 3, 4, 5, 6), shape: [2, 3] } });
  expect([...result.a!]).toEqual([1, 2, 3, 4, 5, 6]);
  expect([...result.b!]).toEqual([0, 0, 0, 0, 0, 0]);
  expect([...result.c!]).toEqual([0, 0, 0, 0, 0, 0]);
  await session.close();
});

test('nothing flows further back than an end', async () => {
  const graph = new Graph();
  const table = graph.parameter('table', [3, 2]);
  const rows = gatherRows(table, graph.constant(BigInt64Array.of(2n, 2n), [2]));
  const loss = add(sum(multiply(rows, rows)), sum(table));
  const [toTable, toRows] = gradients(loss, [table, rows], [rows]);
  const session = await loadGraph(toOnnx({ toTable: toTable!, toRows: toRows! }));
  const results = await session.run({ table: { data: Float32Array.of(1, 2, 3, 4, 5, 6), shape: [3, 2] } });
  expect([...results.toTable!]).toEqual([1, 1, 1, 1, 1, 1]);
  expect([...results.toRows!]).toEqual([10, 12, 10, 12]);
  await session.close();
});

test('only scalars are differentiated, and only what has a derivative', () => {
  const graph = new Graph();
  const w = graph.parameter('w', [2, 2]);
  expect(() => gradients(w, [w])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Only a float32 scalar can be differentiated. Seen: float32 [2, 2]. Reduce the loss with sum() or mean().]`,
  );
  expect(() => gradients(greater(mean(w), 0), [w])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Only a float32 scalar can be differentiated. Seen: bool []. Reduce the loss with sum() or mean().]`,
  );
  const once = gradients(sum(rmsNorm(w, graph.constant([1, 2]), 0.1)), [w])[0]!;
  expect(() => gradients(sum(once), [w])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The operator 'rmsInverse' has no derivative here. Wrap what needs no gradient in stopGradient().]`,
  );
});
