/** The history of entropies that EPO smooths towards, and what a step reads of it. */

import { isForced } from '../../core/choices.ts';
import type { Sample } from '../../core/sample.ts';
import {
  type EntropyHistory,
  extendEntropyHistory,
  smoothingChannels,
  smoothingWeight,
} from '../../objective/regularizer/entropy-smoothing.ts';
import type { CreditedSample, SampleScores } from './batch.ts';

/** The samples with the channels of the smoothing; the weight falls over the `planned` steps of the run, counted from 1, if it `fades`. */
export function withSmoothing(
  samples: readonly CreditedSample[],
  history: EntropyHistory,
  { step, planned }: { readonly step: number; readonly planned: number },
  fades = true,
): CreditedSample[] {
  const weight = fades ? smoothingWeight(step - 1, planned) : 1;
  return samples.map((item) => ({
    ...item,
    channels: {
      ...item.channels,
      ...smoothingChannels(
        history,
        Array.from(item.sample.turn_T, (turn) => turn + 1),
        weight,
      ),
    },
  }));
}

/** The history with the mean entropy of this step at each turn. */
export function extendedEntropies(
  history: EntropyHistory,
  samples: readonly Sample[],
  scores: readonly SampleScores[],
): EntropyHistory {
  const entropies_B = scores.flatMap(({ entropies = [] }) => entropies);
  const sums: { total: number; count: number }[] = [];
  for (const [index, { turn_T, allowed_T }] of samples.entries()) {
    for (const [token, turn] of turn_T.entries()) {
      if (turn < 0 || isForced(allowed_T?.[token])) continue;
      sums[turn] ??= { total: 0, count: 0 };
      sums[turn].total += entropies_B[index]![token]!;
      sums[turn].count++;
    }
  }
  const means = Array.from(sums, (sum) => sum && sum.total / sum.count);
  return extendEntropyHistory(history, means);
}
