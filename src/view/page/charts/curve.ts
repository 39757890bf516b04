/** Numbers of curves: smoothing that does not depend on the x-axis, and ranges that an outlier does not spoil. */

export const smoothings = [0, 0.6, 0.8, 0.95] as const;

/**
 * Exponential mean with debiasing: m = Σ aᵏ·x / Σ aᵏ, with k counted in steps, so that missing steps and points that stand
 * for several weigh as they should. Gaps stay gaps.
 */
export function smoothed(
  steps: ArrayLike<number>,
  values: ArrayLike<number>,
  amount: number,
): (number | null)[] {
  let [sum, weight] = [0, 0];
  let before: number | undefined;
  return Array.from(values, (value, index) => {
    if (!Number.isFinite(value)) return null;
    const decay = before === undefined ? 1 : amount ** Math.max(1, steps[index]! - before);
    before = steps[index]!;
    sum = sum * decay + value;
    weight = weight * decay + 1;
    return sum / weight;
  });
}

export interface Range {
  readonly low: number;
  readonly high: number;
  /** The largest value, where it lies above the range. */
  readonly beyond?: number;
}

const spare = 1.12;
const usualShare = 0.99;

/** From 0, or below it, to a little more than the 99th percentile. */
export function rangeOf(values: ArrayLike<number>): Range {
  const finite = Array.from(values)
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  if (finite.length === 0) return { low: 0, high: 1 };
  const least = finite[0]!;
  const most = finite.at(-1)!;
  const usual = finite[Math.min(finite.length - 1, Math.floor(usualShare * finite.length))]!;
  const low = Math.min(0, least * spare);
  const top = Math.max(usual, 0) * spare;
  if (top - low === 0) return { low, high: low + 1 };
  return most > top ? { low, high: top, beyond: most } : { low, high: Math.max(top, low === 0 ? top : 0) };
}

/** The index of the point nearest to `x` in a column that rises. */
export function nearestIndex(xs: ArrayLike<number>, x: number): number {
  let [low, high] = [0, xs.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle]! < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && Math.abs(xs[low - 1]! - x) <= Math.abs(xs[low]! - x) ? low - 1 : low;
}
