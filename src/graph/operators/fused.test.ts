import { expect, test, vi } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, range, tabulate, total } from '../testing/values.ts';
import { rmsNorm, rotary } from './fused.ts';

const runtime = vi.hoisted(() => ({ givesSecondResults: true }));
vi.mock('../node/second-results.ts', () => ({ givesSecondResults: () => runtime.givesSecondResults }));

test.each([
  [[1, 4], true],
  [[3, 5], true],
  [[2, 2, 3], true],
  [[2, 2, 3], false],
])('rmsNorm of %j, given second results: %s', async (shape, given) => {
  runtime.givesSecondResults = given;
  const width = shape.at(-1)!;
  for (const epsilon of [1e-6, 0.3]) {
    await checkOperator({
      inputs: [{ shape }, { shape: [width] }],
      build: ([x, weight]) => rmsNorm(x!, weight!, epsilon),
      reference: ([x, weight]) =>
        tabulate(shape, (...i) => {
          const squares = range(width).map((v) => at(x!, ...i.slice(0, -1), v) ** 2);
          return (at(x!, ...i) / Math.sqrt(total(squares) / width + epsilon)) * at(weight!, i.at(-1)!);
        }),
    });
  }
});

test.each([
  ['a position for every token', [0, 1, 2, 3, 0, 1], [2, 3]],
  ['one first position', [1], [1]],
] as const)('rotary with %s', async (_name, values, shape) => {
  const [B, T, heads, half] = [2, 3, 2, 2];
  const width = 2 * half;
  const angle = (position: number, i: number): number => position * 0.7 ** i;
  const table = (f: (x: number) => number): Float32Array =>
    Float32Array.from({ length: 4 * half }, (_, i) => f(angle(Math.floor(i / half), i % half)));
  const position = (b: number, t: number): number =>
    values.length === 1 ? values[0] + t : values[b * T + t]!;
  await checkOperator({
    inputs: [{ shape: [B, T, heads * width] }],
    integers: [{ shape, values }],
    build: ([x], [positions]) =>
      rotary(
        x!,
        positions!,
        x!.graph.constant(table(Math.cos), [4, half]),
        x!.graph.constant(table(Math.sin), [4, half]),
        heads,
      ),
    reference: ([x]) =>
      tabulate([B, T, heads * width], (b, t, d) => {
        const [head, i] = [Math.floor(d / width) * width, d % width];
        const theta = angle(position(b, t), i % half);
        const first = at(x!, b, t, head + (i % half));
        const second = at(x!, b, t, head + half + (i % half));
        return i < half
          ? first * Math.cos(theta) - second * Math.sin(theta)
          : second * Math.cos(theta) + first * Math.sin(theta);
      }),
  });
});

test('shapes that do not fit', () => {
  const graph = new Graph();
  const x = graph.input('x', ['B', 'T', 8]);
  const positions = graph.input('positions', ['B', 'T'], 'int64');
  const table = graph.input('table', [16, 3]);
  expect(() => rmsNorm(x, graph.parameter('w', [4]), 1e-5)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'rmsNorm' do not fit. Seen: [B, T, 8] and [4]. Allowed: two axes or more, and a weight of one axis as long as the last of them.]`,
  );
  expect(() => rotary(x, positions, table, table, 2)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'rotary' do not fit. Seen: [B, T, 8] and [B, T] and [16, 3] and [16, 3]. Allowed: [B, T, 2 heads * width], int64 [B, T], and tables [positions, width / 2].]`,
  );
});
