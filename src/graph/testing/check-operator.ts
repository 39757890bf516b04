/** Checks an operator against a plain reference: its value, and its full Jacobian by finite differences. For tests only. */

import { expect } from 'vitest';
import { Rng } from '../../core/rng.ts';
import { gradients } from '../gradient.ts';
import { Graph } from '../graph.ts';
import { type Feed, loadGraph } from '../node/loaded-graph.ts';
import { toOnnx } from '../onnx.ts';
import { multiply } from '../operators/elementwise.ts';
import { sum } from '../operators/reduce.ts';
import type { Tensor } from '../tensor.ts';
import { randomValues, tabulate, type Values } from './values.ts';

export interface FloatInput {
  readonly shape: readonly number[];
  /** Bounds of the random values; -2 and 2 when not given. */
  readonly low?: number;
  readonly high?: number;
}

export interface OperatorCase {
  /** Float inputs, each differentiated. */
  readonly inputs: readonly FloatInput[];
  /** Integer inputs, not differentiated. */
  readonly integers?: readonly { readonly shape: readonly number[]; readonly values: readonly number[] }[];
  build(floats: readonly Tensor[], integers: readonly Tensor[]): Tensor;
  reference(floats: readonly Values[]): Values;
  /** What is differentiated instead, where gradients stop on purpose; `fixed` are the values before any shift. */
  differentiated?(floats: readonly Values[], fixed: readonly Values[]): Values;
}

const step = 1e-5;

/** Throws (by `expect`) unless value and Jacobian of the case agree with its reference to about 1e-3. */
export async function checkOperator(operator: OperatorCase, seed = 1): Promise<void> {
  const rng = Rng.of('operator', seed);
  const graph = new Graph();
  const values = operator.inputs.map(({ shape, low, high }) => randomValues(rng, shape, low, high));
  const floats = values.map(({ shape }, index) => graph.parameter(`x${index}`, shape));
  const integers = (operator.integers ?? []).map(({ shape }, index) =>
    graph.input(`i${index}`, shape, 'int64'),
  );
  const y = operator.build(floats, integers);
  const expected = operator.reference(values);
  expect(y.shape).toEqual(expected.shape);

  const cotangent = graph.input('cotangent', expected.shape);
  const wrt = gradients(sum(multiply(y, cotangent)), floats);
  const outputs = { y, ...Object.fromEntries(wrt.map((gradient, index) => [`gradient${index}`, gradient])) };
  const session = await loadGraph(toOnnx(outputs), { threads: 1 });
  const all: Record<string, Feed> = { cotangent: feed(expected) };
  for (const [index, value] of values.entries()) all[`x${index}`] = feed(value);
  for (const [index, { shape, values: ids }] of (operator.integers ?? []).entries()) {
    all[`i${index}`] = { data: BigInt64Array.from(ids, (id) => BigInt(id)), shape };
  }
  const run = async (row: number): Promise<Record<string, Float32Array>> => {
    const unit = tabulate(expected.shape, () => 0);
    unit.data[row] = 1;
    const feeds: Record<string, Feed> = { ...all, cotangent: feed(unit) };
    return session.run(Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]!])));
  };

  const differentiated = operator.differentiated ?? operator.reference;
  const numeric = values.map((value, index) =>
    [...value.data.keys()].map((element) => {
      const shifted = (by: number): Float64Array => {
        const data = value.data.slice();
        data[element]! += by;
        const shiftedValues = values.map((other, at) => (at === index ? { ...other, data } : other));
        return differentiated(shiftedValues, values).data;
      };
      const [up, down] = [shifted(step), shifted(-step)];
      return up.map((high, row) => (high - down[row]!) / (2 * step));
    }),
  );
  for (let row = 0; row < expected.data.length; row++) {
    const got = await run(row);
    if (row === 0) expectClose(got.y!, expected.data, 'value');
    for (const [index, columns] of numeric.entries()) {
      const want = columns.map((column) => column[row]!);
      expectClose(got[`gradient${index}`]!, want, `Jacobian row ${row} of input ${index}`);
    }
  }
  await session.close();
}

/** Equality to 1e-3 relative and 1e-4 absolute, element by element. */
export function expectClose(got: ArrayLike<number>, want: ArrayLike<number>, what: string): void {
  expect(got.length, `${what}: length`).toBe(want.length);
  for (let i = 0; i < want.length; i++) {
    const error = Math.abs(got[i]! - want[i]!);
    const allowed = 1e-4 + 1e-3 * Math.abs(want[i]!);
    if (!(error <= allowed)) expect.fail(`${what}, element ${i}: ${got[i]} instead of ${want[i]}`);
  }
}

export function feed({ data, shape }: Values): Feed {
  return { data: Float32Array.from(data), shape };
}
