/**
 * DPO over trajectories or turns: the preferred sequence gains more likelihood, against a reference, than the other.
 *
 *   S(τ) = Σ over the model's tokens of (log π - log reference)
 *   loss = mean over pairs of -log σ(β · (S(preferred) - S(other))) + likelihoodCoefficient · NLL(preferred)
 *
 * Sources: DPO, arXiv 2305.18290; M-DPO, arXiv 2409.02392 (multi-turn: tokens of tools and users never enter S); ETO, arXiv
 * 2403.02502; Agent Q, arXiv 2408.07199 (node level).
 * 1. M-DPO's trainer class defaults to another loss type; this is the sigmoid of the paper and of its run script.
 * 2. NLL is the mean over the preferred sequence's tokens.
 * 3. Agent Q keeps no reference model: S is relative to the log-probabilities at sampling time.
 * 4. ETO uses β 0.1 in its first iteration and 0.5 later; the default is that of the first.
 * 5. Agent Q publishes no β; 0.1 is DPO's.
 */

import { z } from 'zod';
import { defineObjective, type ObjectiveDescription, type ObjectiveMethod } from '../contract/define.ts';
import type { Objective } from '../contract/objective.ts';
import { logistic, type SequenceLossOptions, sequenceLoss, softplus } from '../contract/sequence-loss.ts';
import { pairLoss } from './pair-loss.ts';

const beta = z.number().positive().default(0.1).describe('How sharply margins are judged');
const schema = z.strictObject({
  beta,
  likelihoodCoefficient: z
    .number()
    .min(0)
    .default(0)
    .describe('Weight of the negative log-likelihood of the preferred sequence; 0 is off'),
});
const plainSchema = z.strictObject({ beta });

function preference(
  options: { readonly beta: number; readonly likelihoodCoefficient?: number },
  reference: SequenceLossOptions['reference'],
): Omit<Objective, 'key'> {
  return sequenceLoss({
    reference,
    needs: { pairs: true },
    evaluate: (sequences, step) =>
      pairLoss(
        sequences,
        step,
        (margin) => ({
          loss: softplus(-options.beta * margin),
          slope: -options.beta * logistic(-options.beta * margin),
        }),
        options.likelihoodCoefficient,
      ),
  });
}

const formula = '-log σ(β (S(τ_w) - S(τ_l))),   S = Σ_model tokens (log π - log π_ref)';
const described = (name: string, title: string, summary: string, source: string): ObjectiveDescription => ({
  name,
  title,
  summary,
  formula,
  source,
  family: 'preference',
});

/** Reads `referenceLogprobs` and pairs. Metrics: `preference/accuracy`, `preference/margin`. */
export const dpo: ObjectiveMethod<typeof schema> = defineObjective(
  described(
    'dpo',
    'DPO, multi-turn (M-DPO)',
    'prefers one trajectory to another',
    'arXiv 2305.18290; arXiv 2409.02392',
  ),
  schema,
  (options) => preference(options, 'referenceLogprobs'),
);

/** DPO on pairs of an expert's and the agent's trajectories: see `etoPair`. Reads and reports what `dpo` does. */
export const eto: ObjectiveMethod<typeof plainSchema> = defineObjective(
  described('eto', 'ETO', "prefers an expert's trajectory to a failed one of the agent", 'arXiv 2403.02502'),
  plainSchema,
  (options) => preference(options, 'referenceLogprobs'),
);

/** DPO on sibling actions of a search tree: see `agentQPairs`. Reads `oldLogprobs` and pairs; reports what `dpo` does. */
export const agentQ: ObjectiveMethod<typeof plainSchema> = defineObjective(
  described(
    'agent-q',
    'Agent Q, node-level DPO',
    'prefers the better of two actions of a search node',
    'arXiv 2408.07199',
  ),
  plainSchema,
  (options) => preference(options, 'oldLogprobs'),
);
