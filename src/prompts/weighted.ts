/** One of several, in proportion to weights. */

import type { Rng } from '../core/rng.ts';

/** @param weights from 0, one for each; where all are 0, the last item */
export function pickWeighted<T>(items: readonly T[], weights: readonly number[], rng: Rng): T {
  const point = rng.next() * weights.reduce((sum, weight) => sum + weight, 0);
  let end = 0;
  for (const [index, item] of items.entries()) {
    end += weights[index] ?? 0;
    if (point < end) return item;
  }
  return items.at(-1)!;
}
