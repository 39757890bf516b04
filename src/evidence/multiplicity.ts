/** Many claims on one page: p-values adjusted for their number. */

/**
 * Holm's adjusted p-values, in the order given: at or below α, a claim stands with a chance of at most α that any claim of the
 * family stands wrongly.
 *
 * @example holm([0.01, 0.04, 0.03]) // [0.03, 0.06, 0.06]
 */
export function holm(ps: readonly number[]): number[] {
  const adjusted = new Array<number>(ps.length);
  let highest = 0;
  for (const [rank, index] of ascending(ps).entries()) {
    highest = Math.max(highest, Math.min(1, (ps.length - rank) * ps[index]!));
    adjusted[index] = highest;
  }
  return adjusted;
}

/** The levels at which Holm tests each: α / (m − rank + 1). Intervals at that level agree with its decisions. */
export function holmLevels(ps: readonly number[], alpha = 0.05): number[] {
  const levels = new Array<number>(ps.length);
  for (const [rank, index] of ascending(ps).entries()) levels[index] = alpha / (ps.length - rank);
  return levels;
}

/** Benjamini and Hochberg's adjusted p-values: of those at or below q, a share of at most q is expected to be wrong. */
export function benjaminiHochberg(ps: readonly number[]): number[] {
  const adjusted = new Array<number>(ps.length);
  let lowest = 1;
  for (const [place, index] of ascending(ps).toReversed().entries()) {
    lowest = Math.min(lowest, (ps.length * ps[index]!) / (ps.length - place));
    adjusted[index] = lowest;
  }
  return adjusted;
}

function ascending(ps: readonly number[]): number[] {
  return ps.map((_, index) => index).sort((a, b) => ps[a]! - ps[b]!);
}
