/** From the runs of an experiment to what they came to: a mean, and in how many seeds it was as expected. */

import { mean } from '../../src/core/statistics.ts';
import type { Comparison, Experiment, Outcome, StoredResult } from './experiment.ts';

export interface Compared extends Comparison {
  /** Mean over seeds of the paired difference, or, with a factor, geometric mean of the ratio. */
  readonly difference: number;
  readonly seeds: number;
  /** Seeds in which it was as expected. */
  readonly asExpected: number;
}

/** Every comparison of an experiment on stored runs; seeds are paired. */
export function compareArms({ comparisons }: Experiment, { runs }: StoredResult): readonly Compared[] {
  return comparisons.map((comparison) => {
    const { arm, against, factor } = comparison;
    const pairs = (runs[arm] ?? []).flatMap((ours) => {
      const theirs = (runs[against] ?? []).find(({ seed }) => seed === ours.seed);
      return theirs ? [[ours, theirs] as const] : [];
    });
    const differences = pairs.map(([ours, theirs]) => differenceOf(comparison, ours, theirs));
    return {
      ...comparison,
      difference: factor === undefined ? mean(differences) : Math.exp(mean(differences.map(Math.log))),
      seeds: pairs.length,
      asExpected: pairs.filter(([ours, theirs]) => isAsExpected(comparison, ours, theirs)).length,
    };
  });
}

/** Whether one run stands to its rival of the same seed as the comparison expects. */
export function isAsExpected(comparison: Comparison, ours: Outcome, theirs: Outcome): boolean {
  const { expect, factor, margin = 0 } = comparison;
  const difference = differenceOf(comparison, ours, theirs);
  if (expect === 'no-worse') return difference >= -margin;
  const [sign, least] = expect === 'lower' ? [-1, 1 / (factor ?? 1)] : [1, factor ?? 1];
  return sign * (difference - (factor === undefined ? 0 : least)) > 0;
}

function differenceOf({ figure, factor }: Comparison, ours: Outcome, theirs: Outcome): number {
  const [a, b] = [ours.figures[figure]!, theirs.figures[figure]!];
  return factor === undefined ? a - b : a / b;
}
