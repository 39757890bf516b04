import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, range, tabulate, total } from '../testing/values.ts';
import { multiply } from './elementwise.ts';
import { matmul } from './matrix.ts';

const leading = [
  [[], [], []],
  [[2], [], [2]],
  [[], [2], [2]],
  [[2, 2], [], [2, 2]],
  [[2], [2], [2]],
  [[2, 1], [2], [2, 2]],
  [
    [2, 2],
    [2, 2],
    [2, 2],
  ],
];
const flags = [
  [false, false],
  [true, false],
  [false, true],
  [true, true],
] as const;

for (const [transposeA, transposeB] of flags) {
  test.each(leading)(
    `matmul ${transposeA} ${transposeB} with leading axes %j and %j`,
    async (left, right, both) => {
      const [m, k, n] = [2, 3, 2];
      for (const scale of [1, -0.75]) {
        await checkOperator({
          inputs: [
            { shape: [...left, ...(transposeA ? [k, m] : [m, k])] },
            { shape: [...right, ...(transposeB ? [n, k] : [k, n])] },
          ],
          build: ([a, b]) => matmul(a!, b!, { transposeA, transposeB, scale }),
          reference: ([a, b]) =>
            tabulate([...both, m, n], (...index) => {
              const batch = index.slice(0, -2);
              const [row, column] = index.slice(-2) as [number, number];
              return total(
                range(k).map(
                  (inner) =>
                    scale *
                    (transposeA ? at(a!, ...batch, inner, row) : at(a!, ...batch, row, inner)) *
                    (transposeB ? at(b!, ...batch, column, inner) : at(b!, ...batch, inner, column)),
                ),
              );
            }),
        });
      }
    },
  );
}

test('one row, one column, one inner element', async () => {
  for (const [m, k, n] of [
    [1, 4, 1],
    [3, 1, 2],
    [1, 1, 1],
  ] as const) {
    await checkOperator({
      inputs: [{ shape: [m, k] }, { shape: [k, n] }],
      build: ([a, b]) => matmul(a!, b!),
      reference: ([a, b]) =>
        tabulate([m, n], (i, j) => total(range(k).map((inner) => at(a!, i, inner) * at(b!, inner, j)))),
    });
  }
});

test('scalar factors on the operands and on the result', async () => {
  await checkOperator({
    inputs: [{ shape: [2, 2, 3] }, { shape: [3, 2] }],
    build: ([a, b]) => multiply(matmul(multiply(a!, 2), multiply(-3, b!), { scale: 0.5 }), 0.25),
    reference: ([a, b]) =>
      tabulate([2, 2, 2], (...i) =>
        total(range(3).map((inner) => -0.75 * at(a!, i[0]!, i[1]!, inner) * at(b!, inner, i[2]!))),
      ),
  });
});

test('sizes that do not fit', () => {
  const graph = new Graph();
  const a = graph.input('a', ['B', 'T', 4]);
  expect(() => matmul(a, graph.parameter('w', [3, 5]))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'matmul' do not fit. Seen: [B, T, 4] and [3, 5]. Allowed: two tensors of at least two axes whose inner sizes agree and whose leading axes broadcast.]`,
  );
  expect(() =>
    matmul(a, graph.parameter('v', [5, 4]), { transposeA: true, transposeB: true }),
  ).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'matmul (a transposed) (b transposed)' do not fit. Seen: [B, T, 4] and [5, 4]. Allowed: two tensors of at least two axes whose inner sizes agree and whose leading axes broadcast.]`,
  );
  expect(() => matmul(a, graph.parameter('u', [4]))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'matmul' do not fit. Seen: [B, T, 4] and [4]. Allowed: two tensors of at least two axes whose inner sizes agree and whose leading axes broadcast.]`,
  );
  expect(() => matmul(a, a, { transposeB: true, scale: Number.NaN })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The scale of 'matmul' is not a finite number. Seen: NaN.]`,
  );
});
