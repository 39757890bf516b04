/** Runs that fall after their peak: a mean over a few seeds says little about how often that happens. */

import type { CurvePoint } from './learning-curve.ts';
import { shareVariance } from './paired-t.ts';

/** Whether a run ended below its peak by a quarter of it, and by more than three standard deviations of its evaluation. */
export function collapsed(curve: readonly CurvePoint[]): boolean {
  const last = curve.at(-1);
  if (last === undefined) return false;
  const peak = Math.max(...curve.map(({ value }) => value));
  const noise =
    last.episodes === undefined
      ? 0
      : Math.sqrt(shareVariance({ solved: last.value * last.episodes, episodes: last.episodes }));
  return last.value < peak - Math.max(0.25 * peak, 3 * noise);
}

/** The highest collapse rate that seeds without any collapse leave possible, at 95%: 0.26 after ten. */
export function collapseBound(seeds: number, confidence = 0.95): number {
  return 1 - (1 - confidence) ** (1 / seeds);
}

/**
 * The collapse rate at which a lead is gone, if a collapsed run falls back to where it started. Above 1, no rate is enough;
 * undefined where the winner has nothing to lose.
 */
export function breakEven(lead: number, winnerMean: number, startLevel: number): number | undefined {
  const height = winnerMean - startLevel;
  return height > 0 ? lead / height : undefined;
}

/** McNemar's exact test: pairs in which only one arm collapsed, `first` against `second` times. */
export function mcNemar(first: number, second: number): number {
  const count = first + second;
  let [probability, tail] = [0.5 ** count, 0];
  for (let few = 0; few <= Math.min(first, second); few++) {
    tail += probability;
    probability *= (count - few) / (few + 1);
  }
  return Math.min(1, 2 * tail);
}
