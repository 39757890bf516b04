/**
 * Figures over runs and tasks as the rliable library 1.2.0 computes them (arXiv 2108.13264): they describe, and decide nothing.
 * An interquartile mean over unlike tasks drops whole tasks, and of ten runs it drops those that collapse.
 *
 * `scores_ST` has a row for each seed S and a column for each task (world) T.
 */

import type { Rng } from '../core/rng.ts';
import { type Interval, mean, quantile } from '../core/statistics.ts';

type Scores = readonly (readonly number[])[];

/** Any figure of a table of scores. */
export type Aggregate = (scores_ST: Scores) => number;

/**
 * Mean of the middle half of all scores: ⌊N/4⌋ whole values are cut at either end, as in
 * `scipy.stats.trim_mean(x, 0.25, axis=None)`. Of three values none is cut.
 */
export const interquartileMean: Aggregate = (scores_ST) => {
  const sorted = scores_ST.flat().sort((a, b) => a - b);
  const cut = Math.floor(sorted.length / 4);
  return mean(sorted.slice(cut, sorted.length - cut));
};

/** Mean over tasks of their mean over seeds. */
export const meanScore: Aggregate = (scores_ST) => mean(taskMeans(scores_ST));

/** Median over tasks of their mean over seeds. */
export const medianScore: Aggregate = (scores_ST) => quantile(taskMeans(scores_ST), 0.5);

/** How far scores fall short of 1: 1 − mean(min(score, 1)). */
export const optimalityGap: Aggregate = (scores_ST) =>
  1 - mean(scores_ST.flat().map((score) => Math.min(score, 1)));

/** The share of all scores above each threshold, strictly. */
export function performanceProfile(scores_ST: Scores, thresholds: readonly number[]): number[] {
  const scores = scores_ST.flat();
  return thresholds.map((tau) => scores.filter((score) => score > tau).length / scores.length);
}

/** Mean over tasks of the chance that a run of the first is better than one of the second; a tie counts half. Not paired. */
export function probabilityOfImprovement(first_ST: Scores, second_ST: Scores): number {
  return mean(
    columns(first_ST).map((firsts, task) => {
      const seconds = columns(second_ST)[task]!;
      let wins = 0;
      for (const a of firsts) for (const b of seconds) wins += a > b ? 1 : a === b ? 0.5 : 0;
      return wins / (firsts.length * seconds.length);
    }),
  );
}

/** 95% percentile interval of a figure: in every task seeds are redrawn independently, tasks are fixed. */
export function stratifiedInterval(
  scores_ST: Scores,
  aggregate: Aggregate,
  rng: Rng,
  resamples = 2000,
): Interval {
  return percentiles(resamples, () => aggregate(redrawn(scores_ST, indicesFor(scores_ST, rng))));
}

/** The same of a figure of two arms: paired arms share the seeds that are redrawn within a task. */
export function stratifiedDifference(
  first_ST: Scores,
  second_ST: Scores,
  figure: (first_ST: Scores, second_ST: Scores) => number,
  rng: Rng,
  { paired, resamples = 2000 }: { readonly paired: boolean; readonly resamples?: number },
): Interval {
  return percentiles(resamples, () => {
    const indices = indicesFor(first_ST, rng);
    const others = paired ? indices : indicesFor(second_ST, rng);
    return figure(redrawn(first_ST, indices), redrawn(second_ST, others));
  });
}

function percentiles(resamples: number, draw: () => number): Interval {
  const drawn = Array.from({ length: resamples }, draw);
  return { low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) };
}

function columns(scores_ST: Scores): number[][] {
  return (scores_ST[0] ?? []).map((_, task) => scores_ST.map((row) => row[task]!));
}

const taskMeans = (scores_ST: Scores): number[] => columns(scores_ST).map((column) => mean(column));

const indicesFor = (scores_ST: Scores, rng: Rng): number[][] =>
  scores_ST.map((row) => row.map(() => rng.int(scores_ST.length)));

const redrawn = (scores_ST: Scores, indices_ST: readonly (readonly number[])[]): number[][] =>
  indices_ST.map((row) => row.map((seed, task) => scores_ST[seed]![task]!));
