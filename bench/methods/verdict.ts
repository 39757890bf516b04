/** From the runs of an experiment to a verdict: computed, never written by hand. */

import { Rng } from '../../src/core/rng.ts';
import { bootstrapMeanInterval, type Interval, mean } from '../../src/core/statistics.ts';
import type { Comparison, Experiment, StoredResult } from './experiment.ts';

export type Verdict = 'reproduced' | 'not at this scale' | 'refuted';

export interface Compared extends Comparison {
  /** Mean over seeds of the paired difference, or, with a factor, of the ratio of means. */
  readonly difference: number;
  readonly interval: Interval;
  readonly verdict: Verdict;
}

/** Fewest seeds from which a difference is claimed: with four, equal methods differ one way one time in eight. */
const FEWEST_SEEDS = 5;

/** Every comparison of an experiment on stored runs; seeds are paired. */
export function compareArms({ comparisons }: Experiment, { runs }: StoredResult): readonly Compared[] {
  return comparisons.map((comparison) => {
    const { figure, arm, against, expect, factor, margin = 0 } = comparison;
    const [ours, theirs] = [runs[arm] ?? [], runs[against] ?? []];
    const pairs = ours.flatMap(({ seed, figures }) => {
      const other = theirs.find((run) => run.seed === seed);
      return other ? [[figures[figure]!, other.figures[figure]!] as const] : [];
    });
    const sign = expect === 'lower' ? -1 : 1;
    const rng = Rng.of('verdict', arm, against, figure);
    if (factor !== undefined) {
      const logs = pairs.map(([a, b]) => Math.log(a / b));
      const { low, high } = bootstrapMeanInterval(logs, rng);
      const beyond = sign > 0 ? [low, high] : [-high, -low];
      return {
        ...comparison,
        difference: Math.exp(mean(logs)),
        interval: { low: Math.exp(low), high: Math.exp(high) },
        verdict: verdictOf(beyond[0]! - Math.log(factor), beyond[1]! - Math.log(factor), pairs.length),
      };
    }
    const differences = pairs.map(([a, b]) => a - b);
    const interval = bootstrapMeanInterval(differences, rng);
    const allowed = expect === 'no-worse' ? margin : 0;
    const beyond = sign > 0 ? [interval.low, interval.high] : [-interval.high, -interval.low];
    return {
      ...comparison,
      difference: mean(differences),
      interval,
      verdict: verdictOf(beyond[0]! + allowed, beyond[1]! + allowed, pairs.length),
    };
  });
}

/** `low` and `high` bound how far the claim is exceeded. */
function verdictOf(low: number, high: number, seeds: number): Verdict {
  if (seeds < FEWEST_SEEDS) return 'not at this scale';
  return low > 0 ? 'reproduced' : high < 0 ? 'refuted' : 'not at this scale';
}

/** Reproduced where everything holds; refuted where something is the other way round. */
export function overallVerdict(compared: readonly Compared[]): Verdict {
  const verdicts = compared.map(({ verdict }) => verdict);
  if (verdicts.includes('refuted')) return 'refuted';
  return verdicts.every((verdict) => verdict === 'reproduced') ? 'reproduced' : 'not at this scale';
}
