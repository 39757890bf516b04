/** The history of entropies that EPO smooths towards, and what a step reads of it. */

import type { CreditState } from '../credit/rollouts.ts';
import {
  type EntropyHistory,
  extendEntropyHistory,
  smoothingChannels,
  smoothingWeight,
} from '../objective/entropy-smoothing.ts';
import type { CreditedSample, SampleScores } from './batch.ts';

/** Its place in what a run remembers from step to step. */
const PLACE = 'entropy-smoothing';

const historyOf = (state: CreditState): EntropyHistory =>
  (state[PLACE] as unknown as EntropyHistory | undefined) ?? [];

/** The samples with the channels of the smoothing; the weight falls over the `planned` steps of the run. */
export function withSmoothing(
  samples: readonly CreditedSample[],
  state: CreditState,
  { step, planned }: { readonly step: number; readonly planned: number },
): CreditedSample[] {
  const history = historyOf(state);
  const weight = smoothingWeight(step, planned);
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

/** The state with the mean entropy of this step at each turn. */
export function rememberEntropies(
  state: CreditState,
  samples: readonly CreditedSample[],
  scores: readonly SampleScores[],
): CreditState {
  const entropies_B = scores.flatMap(({ entropies = [] }) => entropies);
  const sums: { total: number; count: number }[] = [];
  for (const [index, { sample }] of samples.entries()) {
    for (const [token, turn] of sample.turn_T.entries()) {
      if (turn < 0) continue;
      sums[turn] ??= { total: 0, count: 0 };
      sums[turn].total += entropies_B[index]![token]!;
      sums[turn].count++;
    }
  }
  const means = Array.from(sums, (sum) => sum && sum.total / sum.count);
  return {
    ...state,
    [PLACE]: extendEntropyHistory(historyOf(state), means) as unknown as CreditState[string],
  };
}
