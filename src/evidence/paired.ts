/**
 * Two arms compared: in one world seed by seed, in several by the mean over worlds. Exact sign flips decide together with a
 * paired t whose variance is not below that of the evaluations; either alone decides nothing.
 */

import type { Rng } from '../core/rng.ts';
import { type Interval, mean } from '../core/statistics.ts';
import { tCritical, tTwoSided } from './distributions.ts';
import { evaluationVariance, type PairedT, pairedT, type Share } from './paired-t.ts';
import { seedsNeeded, upperSd } from './sample-size.ts';
import { type SignFlips, signFlips } from './sign-flips.ts';

/** What one arm reached with the seeds that both arms finished. */
export interface ArmScores {
  readonly values_S: readonly number[];
  /** The same as shares of episodes, where they are: they floor the variance. */
  readonly shares_S?: readonly Share[] | undefined;
}

/** Both arms in one world, their seeds in the same order. */
export interface WorldPair {
  readonly first: ArmScores;
  readonly second: ArmScores;
}

export interface PairedComparison {
  /** First minus second: the mean over worlds of the mean over seeds. */
  readonly mean: number;
  /** Of a seed's difference; over several worlds, what would give the same error of their mean. */
  readonly sd: number;
  readonly flips: SignFlips;
  readonly guard: PairedT;
  /** The larger of both p-values: what Holm adjusts. */
  readonly p: number;
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** Pairs in each world. */
  readonly seeds_W: readonly number[];
  /** Mean difference in each world. */
  readonly means_W: readonly number[];
}

/** Fewer seeds, or fewer pairs that differ, decide nothing: five can never reach 0.05. */
export const fewestSeeds = 10;
export const fewestDifferences = 6;

/** Differences below this are rounding. */
const equal = 1e-12;

/**
 * Compare in every world W of `pairs_W`.
 *
 * @example
 * const { mean, p } = comparePaired([{ first: { values_S: grpo }, second: { values_S: rloo } }], { rng: Rng.of('grpo-rloo') });
 */
export function comparePaired(
  pairs_W: readonly WorldPair[],
  { alpha = 0.05, rng }: { readonly alpha?: number; readonly rng: Rng },
): PairedComparison {
  const worlds = pairs_W.map(({ first, second }) => ({
    differences_S: differencesOf(first, second),
    floor:
      first.shares_S && second.shares_S && first.shares_S.length > 0
        ? evaluationVariance(first.shares_S, second.shares_S)
        : 0,
  }));
  const all = worlds.flatMap(({ differences_S }) => differences_S);
  const weights = worlds.flatMap(({ differences_S }) =>
    differences_S.map(() => 1 / (worlds.length * differences_S.length)),
  );
  const flips = signFlips(all, { alpha, rng, ...(worlds.length > 1 && { weights }) });
  const guard = worlds.length === 1 ? pairedT(all, worlds[0]!.floor, alpha) : guardOverWorlds(worlds, alpha);
  return {
    mean: guard.mean,
    sd: guard.sd,
    flips,
    guard,
    p: Math.max(flips.p, guard.p ?? 1),
    wins: all.filter((difference) => difference > equal).length,
    ties: all.filter((difference) => Math.abs(difference) <= equal).length,
    losses: all.filter((difference) => difference < -equal).length,
    seeds_W: worlds.map(({ differences_S }) => differences_S.length),
    means_W: worlds.map(({ differences_S }) => mean(differences_S)),
  };
}

/** Where both arms solved as many of as many episodes, the difference is exactly 0, and one of integers is free of rounding. */
function differencesOf(first: ArmScores, second: ArmScores): number[] {
  return first.values_S.map((value, seed) => {
    const [a, b] = [first.shares_S?.[seed], second.shares_S?.[seed]];
    return a && b && a.episodes === b.episodes
      ? (a.solved - b.solved) / a.episodes
      : value - second.values_S[seed]!;
  });
}

/** Student's t of the mean over worlds, with the degrees of freedom of Welch and Satterthwaite. */
function guardOverWorlds(
  worlds: readonly { readonly differences_S: readonly number[]; readonly floor: number }[],
  alpha: number,
): PairedT {
  const parts = worlds.map(({ differences_S, floor }) => {
    const { mean: centre, sd } = pairedT(differences_S, floor, alpha);
    return {
      centre,
      variance: sd ** 2 / differences_S.length / worlds.length ** 2,
      df: differences_S.length - 1,
    };
  });
  const centre = mean(parts.map((part) => part.centre));
  const variance = parts.reduce((sum, part) => sum + part.variance, 0);
  const df = variance ** 2 / parts.reduce((sum, part) => sum + part.variance ** 2 / Math.max(part.df, 1), 0);
  if (variance === 0) return { mean: centre, sd: 0, p: null, interval: null };
  const seeds = mean(worlds.map(({ differences_S }) => differences_S.length));
  const sd = Math.sqrt(variance * seeds);
  const half = tCritical(alpha, df) * Math.sqrt(variance);
  return {
    mean: centre,
    sd,
    p: tTwoSided(centre / Math.sqrt(variance), df),
    interval: { low: centre - half, high: centre + half },
  };
}

/** The values of the difference that neither test rejects: what a verdict goes by. */
export function jointInterval({ flips, guard }: Pick<PairedComparison, 'flips' | 'guard'>): Interval {
  const { low, high } = guard.interval ?? { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  return { low: Math.min(flips.interval.low, low), high: Math.max(flips.interval.high, high) };
}

/** Why such a comparison decides nothing, whatever its p; undefined where it may. */
export function undecidable({ seeds_W, wins, losses }: PairedComparison): string | undefined {
  const seeds = Math.min(...seeds_W);
  if (seeds < fewestSeeds) return `${seeds} seeds; a verdict takes ${fewestSeeds}`;
  const differing = wins + losses;
  // Every world adds signs of its own, so their number counts over all of them.
  if (differing > 0 && differing < fewestDifferences) {
    return `fewer than ${fewestDifferences} pairs differ`;
  }
  return undefined;
}

/** Seeds of each world that would find `difference` with power 0.8, by the upper limit of the spread that was seen. */
export function seedsToDecide({ sd, seeds_W }: PairedComparison, difference: number, alpha = 0.05): number {
  const planned = upperSd(sd, Math.max(2, Math.min(...seeds_W)));
  return Math.ceil(seedsNeeded({ sd: planned, difference, alpha }));
}
