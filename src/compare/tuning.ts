/** Equal tuning: every arm over as many learning rates, on seeds and tasks that no result is made of. */

import { mean, sampleStd } from '../core/statistics.ts';
import type { ArmResult, WorldResult } from './world-results.ts';

/** What neighbouring rates differ by. */
const factor = 2;

const POWERS = [-2, -1, 0, 1, 2] as const;
/** Of the first grid. */
export const RATES: number = POWERS.length;

/** Five rates around an arm's own. */
export function gridAround(rate: number): readonly number[] {
  return POWERS.map((power) => rounded(rate * factor ** power));
}

/** Two more at the end that won. */
export function extended(rates: readonly number[], end: 'low' | 'high'): readonly number[] {
  const sorted = [...rates].sort((a, b) => a - b);
  const [edge, beside] = end === 'low' ? [sorted[0]!, sorted[1]!] : [sorted.at(-1)!, sorted.at(-2)!];
  const ratio = edge / beside;
  return [...rates, rounded(edge * ratio), rounded(edge * ratio ** 2)].sort((a, b) => a - b);
}

/** Rates are written into names and files. */
const rounded = (rate: number): number => Number(rate.toPrecision(6));

export interface TunedRate {
  readonly rate: number;
  /** Mean area over the tuning seeds, in the direction of the claim: higher is better. */
  readonly area: number;
  /** How far it is behind the best over the seeds of both, and the standard error of that. */
  readonly behind: { readonly mean: number; readonly error: number };
}

/** Best first. Rates of which no run has figures are left out; ties go to the lower rate. */
export function tunedRates(world: WorldResult, arm: string): readonly TunedRate[] {
  const sign = world.reading.quantity === 'exploitability' ? -1 : 1;
  const tuned = world.arms
    .filter(
      (result): result is ArmResult & { rate: number } => result.arm === arm && result.rate !== undefined,
    )
    .map(({ rate, seeds }) => ({
      rate,
      areas: new Map(seeds.flatMap(({ seed, figures }) => (figures ? [[seed, sign * figures.area]] : []))),
    }))
    .filter(({ areas }) => areas.size > 0)
    .map((one) => ({ ...one, area: mean([...one.areas.values()]) }))
    .sort((a, b) => b.area - a.area || a.rate - b.rate);
  return tuned.map(({ rate, area, areas }) => ({ rate, area, behind: behindBest(areas, tuned[0]!.areas) }));
}

type BySeed = ReadonlyMap<number, number>;

function behindBest(areas: BySeed, best: BySeed): TunedRate['behind'] {
  const differences = [...areas].flatMap(([seed, area]) => {
    const other = best.get(seed);
    return other === undefined ? [] : [other - area];
  });
  const error = differences.length < 2 ? 0 : sampleStd(differences) / Math.sqrt(differences.length);
  return { mean: mean(differences), error };
}

/** Where the best rate is the end of the grid, which says that a better one may lie beyond; a tie says nothing. */
export function winningEnd(tuned: readonly TunedRate[]): 'low' | 'high' | undefined {
  const [best, second] = tuned;
  if (best === undefined || second === undefined || best.area <= second.area) return undefined;
  const rates = tuned.map(({ rate }) => rate);
  return best.rate === Math.min(...rates) ? 'low' : best.rate === Math.max(...rates) ? 'high' : undefined;
}

/**
 * All rates that are behind the best by no more than the standard error of that: a rival runs at each of them, lest its best
 * was a guess. What a seed adds to all rates does not blur their order.
 */
export function nearBest(tuned: readonly TunedRate[]): readonly number[] {
  return tuned.filter(({ behind }) => behind.mean <= behind.error + 1e-12).map(({ rate }) => rate);
}
