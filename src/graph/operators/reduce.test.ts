import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, range, tabulate, total, type Values } from '../testing/values.ts';
import { add, multiply } from './elementwise.ts';
import { logSoftmax, max, mean, softmax, sum } from './reduce.ts';
import { sign } from './unary.ts';

const shape = [2, 3, 4];
const reducers = {
  sum: [sum, total],
  mean: [mean, (values: number[]) => total(values) / values.length],
  max: [max, (values: number[]) => Math.max(...values)],
} as const;

const choices: [number[] | undefined, boolean, number[]][] = [
  [undefined, false, []],
  [undefined, true, [1, 1, 1]],
  [[0], false, [3, 4]],
  [[-1], true, [2, 3, 1]],
  [[1], false, [2, 4]],
  [[0, 2], true, [1, 3, 1]],
  [[2, 0], false, [3]],
  [[], false, [2, 3, 4]],
];

for (const [name, [build, reference]] of Object.entries(reducers)) {
  test.each(choices)(`${name} over %j, keepDims %s`, async (axes, keepDims, result) => {
    const reduced = (axes ?? [0, 1, 2]).map((axis) => (axis + 3) % 3);
    const members = (x: Values, kept: number[]): number[] => {
      const full = [0, 1, 2].map((axis) => (reduced.includes(axis) ? undefined : kept.shift()!));
      const [is, js, ks] = full.map((fixed, axis) => (fixed === undefined ? range(shape[axis]!) : [fixed]));
      return is!.flatMap((i) => js!.flatMap((j) => ks!.map((k) => at(x, i, j, k))));
    };
    await checkOperator({
      inputs: [{ shape }],
      build: ([x]) => build(x!, axes, keepDims),
      reference: ([x]) =>
        tabulate(result, (...i) =>
          reference(members(x!, keepDims ? i.filter((_, axis) => !reduced.includes(axis)) : [...i])),
        ),
    });
  });
}

test('equal maxima share the gradient evenly', async () => {
  await checkOperator({
    inputs: [{ shape: [4], low: 1, high: 2 }],
    build: ([x]) => multiply(max(add(sign(x!), multiply(x!, 0))), sum(x!)),
    reference: ([x]) => tabulate([], () => total([...x!.data])),
  });
});

const normalized = (x: Values, ...i: number[]): number => {
  const row = range(x.shape.at(-1)!).map((v) => Math.exp(at(x, ...i.slice(0, -1), v)));
  return row[i.at(-1)!]! / total(row);
};

test.each([[[5]], [[2, 3]], [[2, 1, 3]]])('softmax and logSoftmax of %j', async (size) => {
  await checkOperator({
    inputs: [{ shape: size }],
    build: ([x]) => softmax(x!),
    reference: ([x]) => tabulate(size, (...i) => normalized(x!, ...i)),
  });
  await checkOperator({
    inputs: [{ shape: size }],
    build: ([x]) => logSoftmax(x!),
    reference: ([x]) => tabulate(size, (...i) => Math.log(normalized(x!, ...i))),
  });
});

test('large logits neither overflow nor vanish', async () => {
  await checkOperator({
    inputs: [{ shape: [4], low: 500, high: 520 }],
    build: ([x]) => logSoftmax(x!),
    reference: ([x]) => {
      const shift = Math.max(...x!.data);
      return tabulate(
        [4],
        (i) => at(x!, i) - shift - Math.log(total([...x!.data].map((v) => Math.exp(v - shift)))),
      );
    },
  });
});

test('axes that do not exist', () => {
  const graph = new Graph();
  const x = graph.input('x', ['B', 3]);
  expect(() => sum(x, [2])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'sum' do not fit. Seen: [B, 3]. Allowed: an axis from -2 to 1, not 2.]`,
  );
  expect(() => softmax(graph.constant(1))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'softmax' do not fit. Seen: []. Allowed: an axis from 0 to -1, not -1.]`,
  );
  expect(() => max(graph.input('ids', ['B'], 'int64'))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The types given to 'max' do not fit. Seen: int64. Allowed: float32. Convert with cast().]`,
  );
});
