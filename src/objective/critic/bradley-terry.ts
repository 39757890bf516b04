/**
 * Reward models from preferences: a head learns a reward by which the preferred sequence of each pair is likelier to win.
 *
 *   r(τ) = Σ weight · head, over the targets of τ: one, after its last token
 *   loss = mean over pairs of -log σ(r(preferred) - r(other)) + centring · (r(preferred) + r(other))²
 *
 * Sources: Bradley and Terry, 1952; InstructGPT, arXiv 2203.02155; centring: arXiv 2312.09244.
 * 1. As with losses over log-probabilities of sequences, the step is scored first, and the passes take the gradient of the loss
 *    at the present weights, for any division into micro-batches.
 */

import { z } from 'zod';
import { multiply, subtract } from '../../graph/operators/elementwise.ts';
import { stopGradient } from '../../graph/operators/logic.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { StepView } from '../contract/objective.ts';
import { logistic, type SequenceScore, softplus } from '../contract/sequence-loss.ts';
import { finiteInput, targetsByRow } from '../contract/step-input.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';
import { pairLoss } from '../preference/pair-loss.ts';

/** The head of the model that holds the reward. */
export const REWARD_HEAD = 'reward';

const schema = z.strictObject({
  centring: z
    .number()
    .min(0)
    .default(0.01)
    .describe('Weight of the squared sum of the two rewards of a pair, which keeps them around 0'),
});

/** The reward of each sequence of the step. */
export function sequenceRewards(step: StepView): SequenceScore[] {
  const targetsOf = targetsByRow(step);
  const { weight } = step.channels;
  const head = step.heads[REWARD_HEAD]!;
  return step.sequences.map(({ rows, reward }, index) => {
    const targets = rows.flatMap((row) => targetsOf[row] ?? []);
    const score = targets.reduce((sum, target) => sum + weight![target]! * head[target]!, 0);
    finiteInput(score, `the reward of sequence ${index}`);
    return { score, logprob: 0, tokens: targets.length, reward };
  });
}

/**
 * Reads pairs; needs the scalar head `reward`. Metrics: `preference/accuracy`, `preference/margin`.
 *
 * @example
 * // Rows with weight 1 on the place after the last token; pairs name the better sequence first.
 * await forwardBackwardStep(engine, batchOf(rows), bradleyTerry(), { ...options, sequences, pairs: [[0, 1]] });
 */
export const bradleyTerry: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'bradley-terry',
    title: 'Bradley–Terry (reward model)',
    summary: 'a head learns rewards by which the preferred of two sequences wins',
    formula: '-log σ(r_w - r_l) + c (r_w + r_l)²,   r = Σ w head',
    source: 'Bradley and Terry, 1952; arXiv 2203.02155; arXiv 2312.09244',
    family: 'value',
  },
  schema,
  ({ centring }) => ({
    channels: ['rewardGradient'],
    needs: { heads: [REWARD_HEAD], scores: { heads: [REWARD_HEAD] }, sequences: true, pairs: true },
    prepare: (step) => {
      const rewards = sequenceRewards(step);
      const judged = pairLoss(rewards, step, (margin) => ({
        loss: softplus(-margin),
        slope: -logistic(-margin),
      }));
      const gradients = [...judged.gradients];
      let centre = 0;
      for (const [first, second] of step.pairs) {
        const sum = rewards[first]!.score + rewards[second]!.score;
        centre += (centring * sum ** 2) / step.pairs.length;
        for (const index of [first, second]) gradients[index]! += (2 * centring * sum) / step.pairs.length;
      }
      const ofRow = new Array<number>(step.rows).fill(0);
      for (const [index, gradient] of gradients.entries())
        for (const row of step.sequences[index]!.rows) ofRow[row]! += gradient;
      return {
        channels: { rewardGradient: Float32Array.from(step.row_N, (row) => ofRow[row]!) },
        loss: judged.loss + centre,
        metrics: judged.metrics,
      };
    },
    build: (tokens) => {
      const head = tokens.head(REWARD_HEAD);
      // Zero in value: the value of the loss is known from `prepare`.
      const moved = subtract(head, stopGradient(head));
      return { loss: totalOf(tokens)(multiply(tokens.channel('rewardGradient'), moved)), metrics: {} };
    },
  }),
);
