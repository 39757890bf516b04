import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, tabulate } from '../testing/values.ts';
import { multiply } from './elementwise.ts';
import { cast, equal, greater, less, stopGradient, where } from './logic.ts';
import { sign } from './unary.ts';

test.each([
  ['greater', greater, (a: number, b: number) => a > b],
  ['less', less, (a: number, b: number) => a < b],
  [
    'equal',
    (a: Parameters<typeof equal>[0], b: Parameters<typeof equal>[1]) =>
      equal(sign(a as never), sign(b as never)),
    (a: number, b: number) => Math.sign(a) === Math.sign(b),
  ],
] as const)('%s is 0 or 1, without gradient', async (_name, build, reference) => {
  await checkOperator({
    inputs: [{ shape: [2, 3] }, { shape: [3] }],
    build: ([a, b]) => cast(build(a!, b!), 'float32'),
    reference: ([a, b]) => tabulate([2, 3], (...i) => (reference(at(a!, ...i), at(b!, ...i)) ? 1 : 0)),
  });
});

test('where sends each branch the gradient of its own places', async () => {
  await checkOperator({
    inputs: [{ shape: [2, 3] }, { shape: [3] }, { shape: [2, 1] }],
    build: ([c, a, b]) => where(greater(c!, 0), a!, b!),
    reference: ([c, a, b]) => tabulate([2, 3], (...i) => (at(c!, ...i) > 0 ? at(a!, ...i) : at(b!, ...i))),
  });
  await checkOperator({
    inputs: [{ shape: [5] }],
    build: ([a]) => where(greater(a!, 0), a!, -1),
    reference: ([a]) => tabulate([5], (i) => (at(a!, i) > 0 ? at(a!, i) : -1)),
  });
  await checkOperator({
    inputs: [{ shape: [5] }],
    build: ([a]) => where(greater(a!, 0), 1, 0.5),
    reference: ([a]) => tabulate([5], (i) => (at(a!, i) > 0 ? 1 : 0.5)),
  });
});

test('stopGradient makes a factor constant', async () => {
  await checkOperator({
    inputs: [{ shape: [3] }, { shape: [3] }],
    build: ([a, b]) => multiply(stopGradient(a!), b!),
    reference: ([a, b]) => tabulate([3], (i) => at(a!, i) * at(b!, i)),
    differentiated: ([, b], [fixed]) => tabulate([3], (i) => at(fixed!, i) * at(b!, i)),
  });
});

test('integers compare with numbers', async () => {
  await checkOperator({
    inputs: [{ shape: [4] }],
    integers: [{ shape: [4], values: [0, 3, 1, 3] }],
    build: ([a], [ids]) => where(equal(ids!, 3), a!, 0),
    reference: ([a]) => tabulate([4], (i) => (i % 2 === 1 ? at(a!, i) : 0)),
  });
});

test('conditions must be booleans', () => {
  const graph = new Graph();
  const a = graph.input('a', [3]);
  expect(() => where(a, a, 0)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The types given to 'where' do not fit. Seen: float32. Allowed: bool. Convert with cast().]`,
  );
  expect(() => greater(greater(a, 0), 0)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The types given to 'greater' do not fit. Seen: bool and float32. Allowed: float32 or int64. Convert with cast().]`,
  );
  expect(cast(a, 'float32')).toBe(a);
});
