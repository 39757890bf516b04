/** The guard beside sign flips: the paired t interval, its variance not below that of the evaluations themselves. */

import { type Interval, mean, sampleStd } from '../core/statistics.ts';
import { tCritical, tTwoSided } from './distributions.ts';

/** A share of episodes, such as success: `solved` may be a fraction where a value lies between two evaluations. */
export interface Share {
  readonly solved: number;
  readonly episodes: number;
}

export interface PairedT {
  readonly mean: number;
  /** Of the differences, floored; 0 where they are equal and nothing floors them. */
  readonly sd: number;
  /** Two-sided; null where `sd` is 0. */
  readonly p: number | null;
  readonly interval: Interval | null;
}

/** Smaller spreads are rounding: equal differences do not give exactly 0. */
const noSpread = 1e-12;

/**
 * Paired t of `differences_S`, of at least two seeds S.
 *
 * @param floorVariance which the variance of a difference does not fall below: `evaluationVariance`
 */
export function pairedT(differences_S: readonly number[], floorVariance = 0, alpha = 0.05): PairedT {
  const count = differences_S.length;
  const centre = mean(differences_S);
  const seen = count < 2 ? 0 : sampleStd(differences_S);
  const sd = Math.max(seen < noSpread ? 0 : seen, Math.sqrt(floorVariance));
  if (sd === 0 || count < 2) return { mean: centre, sd, p: null, interval: null };
  const error = sd / Math.sqrt(count);
  const half = tCritical(alpha, count - 1) * error;
  return {
    mean: centre,
    sd,
    p: tTwoSided(centre / error, count - 1),
    interval: { low: centre - half, high: centre + half },
  };
}

/**
 * Variance that evaluation on a limited number of episodes gives a paired difference: the mean over seeds of
 * p̃(1 − p̃)/m of both arms, with p̃ = (k + 2)/(m + 4).
 *
 * 1. It is too high where both arms play the same evaluation tasks with the same chance.
 */
export function evaluationVariance(first_S: readonly Share[], second_S: readonly Share[]): number {
  return mean(first_S.map((share, seed) => shareVariance(share) + shareVariance(second_S[seed]!)));
}

/** The same from the outcomes of each task, where both arms played the same ones: by discordant tasks, plus ½ each. */
export function discordantVariance(
  pairs_S: readonly { readonly onlyFirst: number; readonly onlySecond: number; readonly tasks: number }[],
): number {
  return mean(
    pairs_S.map(({ onlyFirst, onlySecond, tasks }) => {
      const [b, c] = [onlyFirst + 0.5, onlySecond + 0.5];
      return (b + c - (b - c) ** 2 / tasks) / tasks ** 2;
    }),
  );
}

/** Variance of a measured share. */
export function shareVariance({ solved, episodes }: Share): number {
  const share = (solved + 2) / (episodes + 4);
  return (share * (1 - share)) / episodes;
}
