/**
 * REBEL and REFUEL: the difference of two log-ratios is regressed on the difference of two rewards.
 *
 *   Δ(y) = Σ over tokens of (log π - log π_old)
 *   loss = mean over pairs of ((Δ(y) - Δ(y')) - eta · (r(y) - r(y')))²
 *
 * Sources: REBEL, arXiv 2404.16767; REFUEL, arXiv 2410.04612; their released code.
 * 1. The papers divide the log-ratios by η, the code multiplies the rewards by it; this is the code's form. They differ by
 *    the factor η² on the loss.
 * 2. `klCoefficient` folds a KL to a reference into the rewards: r - klCoefficient · Σ (log π_old - log π_ref).
 * 3. REFUEL is this loss on turn h alone: give weight 1 to the tokens of the resampled turn and 0 to all others
 *    (`onlyTurn`), and the reward of the whole rest of each dialogue.
 * 4. Pairs with equal rewards stay: they hold the ratios equal.
 */

import { z } from 'zod';
import { defineObjective, type ObjectiveDescription, type ObjectiveMethod } from '../contract/define.ts';
import type { Objective, StepView } from '../contract/objective.ts';
import { sequenceLoss } from '../contract/sequence-loss.ts';
import { targetsByRow } from '../contract/step-input.ts';
import { pairLoss } from './pair-loss.ts';

const schema = z.strictObject({
  eta: z.number().positive().default(1).describe('Scale of rewards against log-ratios'),
  klCoefficient: z
    .number()
    .min(0)
    .default(0)
    .describe('Weight of a KL to a reference in the rewards; 0 is off'),
});

function regression({ eta, klCoefficient }: z.output<typeof schema>): Omit<Objective, 'key'> {
  return sequenceLoss({
    reference: 'oldLogprobs',
    needs: { pairs: true },
    evaluate: (sequences, step) => {
      const targetsOf = targetsByRow(step);
      const rewards = sequences.map(
        ({ reward }, index) =>
          reward - (klCoefficient === 0 ? 0 : klCoefficient * drift(step, targetsOf, index)),
      );
      const withRewards = sequences.map((sequence, index) => ({ ...sequence, reward: rewards[index]! }));
      return pairLoss(withRewards, step, (margin, first, second) => {
        const error = margin - eta * (first.reward - second.reward);
        return { loss: error ** 2, slope: 2 * error };
      });
    },
  });
}

/** Σ (log π_old - log π_ref) over the tokens of a sequence. */
function drift(
  { sequences, channels: { weight, oldLogprobs, referenceLogprobs } }: StepView,
  targetsOf: readonly (readonly number[])[],
  index: number,
): number {
  return sequences[index]!.rows.flatMap((row) => targetsOf[row]!).reduce(
    (sum, target) => sum + weight![target]! * (oldLogprobs![target]! - referenceLogprobs![target]!),
    0,
  );
}

const described = (name: string, title: string, summary: string, source: string): ObjectiveDescription => ({
  name,
  title,
  summary,
  formula: "((Δ(y) - Δ(y')) - η (r - r'))²,   Δ = Σ_t (log π - log π_old)",
  source,
  family: 'preference',
});

/** Reads `oldLogprobs`, `referenceLogprobs` where the KL is on, and pairs. Metrics as `dpo`. */
export const rebel: ObjectiveMethod<typeof schema> = defineObjective(
  described(
    'rebel',
    'REBEL',
    'regresses differences of log-ratios on differences of rewards',
    'arXiv 2404.16767',
  ),
  schema,
  regression,
);

/** REBEL on one turn and the reward of what followed it. Reads and reports what `rebel` does. */
export const refuel: ObjectiveMethod<typeof schema> = defineObjective(
  described('refuel', 'REFUEL', 'REBEL on a random turn, with the reward of the rest', 'arXiv 2410.04612'),
  schema,
  regression,
);

/** The weights of a row with all turns but one left out; `turns_T` numbers turns from 1. */
export function onlyTurn(weight_T: Float32Array, turns_T: ArrayLike<number>, turn: number): Float32Array {
  return weight_T.map((weight, token) => (turns_T[token] === turn ? weight : 0));
}
