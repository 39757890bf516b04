/**
 * KTO: single trajectories are desirable or not, against a moving point of reference; no pairs are needed.
 *
 *   S(τ) = Σ over the model's tokens of (log π - log reference),   z = max(0, mean S of mismatched completions)
 *   loss = mean of desirableWeight · (1 - σ(β(S - z))) where desirable, undesirableWeight · (1 - σ(β(z - S))) where not
 *
 * Sources: KTO, arXiv 2402.01306; M-KTO, arXiv 2409.02392 (multi-turn).
 * 1. z is a constant in the gradient. Where the step has no sequences marked `baseline`, it is the mean over all others.
 * 2. A sequence is desirable where its reward is above 0.
 */

import { z } from 'zod';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { logistic, sequenceLoss } from '../contract/sequence-loss.ts';

const schema = z.strictObject({
  beta: z.number().positive().default(0.1).describe('How sharply scores are judged'),
  desirableWeight: z.number().min(0).default(1).describe('Weight of desirable sequences'),
  undesirableWeight: z.number().min(0).default(1).describe('Weight of undesirable sequences'),
});

/** Reads `referenceLogprobs` and sequences. Metrics: `preference/baseline`, `preference/desirable`, `preference/undesirable`. */
export const kto: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'kto',
    title: 'KTO, multi-turn (M-KTO)',
    summary: 'raises desirable trajectories and lowers the others, without pairs',
    formula: 'λ_D (1 - σ(β(S - z))) if desirable, λ_U (1 - σ(β(z - S))) if not',
    source: 'arXiv 2402.01306; arXiv 2409.02392',
    family: 'preference',
  },
  schema,
  ({ beta, desirableWeight, undesirableWeight }) =>
    sequenceLoss({
      reference: 'referenceLogprobs',
      needs: { sequences: true },
      evaluate: (scores, { sequences }) => {
        const judged = scores.flatMap((_, index) => (sequences[index]!.baseline ? [] : [index]));
        const mismatched = scores.filter((_, index) => sequences[index]!.baseline);
        const meanOf = (values: readonly number[]): number =>
          values.reduce((total, value) => total + value, 0) / Math.max(1, values.length);
        const compared = mismatched.length > 0 ? mismatched : scores;
        const baseline = Math.max(0, meanOf(compared.map(({ score }) => score)));
        const gradients = scores.map(() => 0);
        let loss = 0;
        for (const index of judged) {
          const { score, reward } = scores[index]!;
          const sign = reward > 0 ? 1 : -1;
          const weight = (reward > 0 ? desirableWeight : undesirableWeight) / judged.length;
          const satisfied = logistic(sign * beta * (score - baseline));
          loss += weight * (1 - satisfied);
          gradients[index] = -sign * weight * beta * satisfied * (1 - satisfied);
        }
        const mean = (desirable: boolean): number =>
          meanOf(
            judged.flatMap((index) =>
              scores[index]!.reward > 0 === desirable ? [scores[index]!.score] : [],
            ),
          );
        const metrics = {
          'preference/baseline': baseline,
          'preference/desirable': mean(true),
          'preference/undesirable': mean(false),
        };
        return { loss, gradients, metrics };
      },
    }),
);
