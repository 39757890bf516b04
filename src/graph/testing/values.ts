/** Plain float64 arrays with a shape: what operators are checked against. For tests only. */

import type { Rng } from '../../core/rng.ts';

export interface Values {
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

/** The array whose element at each index is what `value` gives for it. */
export function tabulate(shape: readonly number[], value: (...index: number[]) => number): Values {
  const length = shape.reduce((total, size) => total * size, 1);
  return { shape, data: Float64Array.from({ length }, (_, flat) => value(...indexOf(shape, flat))) };
}

/** The element at an index, aligned from the right; axes of size 1 are broadcast and surplus leading axes ignored. */
export function at(x: Values, ...index: number[]): number {
  const own = index.slice(index.length - x.shape.length);
  return x.data[own.reduce((flat, i, axis) => flat * x.shape[axis]! + (x.shape[axis] === 1 ? 0 : i), 0)]!;
}

/** The indices of an axis, to sum or map over. */
export function range(size: number): number[] {
  return Array.from({ length: size }, (_, index) => index);
}

export function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Uniform values in [low, high), rounded to float32 so that both sides of a comparison start from the same numbers. */
export function randomValues(rng: Rng, shape: readonly number[], low = -2, high = 2): Values {
  return tabulate(shape, () => Math.fround(low + (high - low) * rng.next()));
}

/** The error function to about 1e-15, by its Taylor series. */
export function erfReference(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 && n < 200; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

function indexOf(shape: readonly number[], flat: number): number[] {
  const index: number[] = [];
  let rest = flat;
  for (const size of [...shape].reverse()) {
    index.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return index;
}
