/** Numbers that scipy, statsmodels and rliable gave; each file says by which version. */

import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

export function numbers<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as T;
}

export function expectNear(actual: number, expected: number, tolerance = 1e-12): void {
  expect(Math.abs(actual - expected), `${actual} is not ${expected}`).toBeLessThanOrEqual(tolerance);
}

export function expectInterval(
  { low, high }: { readonly low: number; readonly high: number },
  expected: readonly number[],
  tolerance: number | readonly number[] = 1e-12,
): void {
  const [lowTolerance, highTolerance] = typeof tolerance === 'number' ? [tolerance, tolerance] : tolerance;
  expectNear(low, expected[0]!, lowTolerance);
  expectNear(high, expected[1]!, highTolerance);
}
