/**
 * Weights for data whose sampler and trainer disagree: three policies, the one that sampled (`rolloutLogprobs`), the same
 * weights as the trainer computes them (`oldLogprobs`), and the present one. The inner loss keeps its ratio to the old
 * policy; its token weights are multiplied by
 *
 *   truncate:           min(exp(x), largest),  x = log π_old - log π_rollout
 *   sequence-truncate:  the same with the sum of x over the trained tokens of the row
 *   icepop:             exp(x), or 0 outside [smallest, largest]
 *   sequence-mask:      exp(sum of x), or 0 above `largest`: icepop of whole rows, without a lower bound
 *
 * Sources: verl, rollout_corr_helper.py and rollout_correction.yaml (truncated importance sampling, cap 2); IcePop,
 * as OpenRLHF has it in models/loss.py; TRL, grpo_trainer.py and grpo_config.py (sequence mask, cap 3).
 * 1. x is kept within ±20.
 * 2. `normalize` divides the weights by their mean over the trained tokens of the step.
 * 3. A row counts as a sequence, where a trajectory was cut into several.
 */

import { z } from 'zod';
import { multiply } from '../../graph/operators/elementwise.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { Objective, Prepared, StepView } from '../contract/objective.ts';
import { finiteInput, targetsByRow } from '../contract/step-input.ts';
import { ppoClip, ppoClipOptions } from './ppo-clip.ts';

const modes = ['truncate', 'sequence-truncate', 'icepop', 'sequence-mask'] as const;

export interface MismatchOptions {
  readonly mode: (typeof modes)[number];
  readonly smallest: number;
  readonly largest: number;
  readonly normalize: boolean;
}

const channel = 'mismatchWeight';

/** The inner objective with corrected weights. Reads `rolloutLogprobs` and `oldLogprobs`; metric `policy/mismatch_weight`. */
export function correctMismatch(inner: Objective, options: MismatchOptions): Objective {
  return {
    key: `mismatch ${JSON.stringify(options)} of ${inner.key}`,
    channels: [...inner.channels, channel],
    needs: inner.needs,
    prepare: (step) => {
      const weights = mismatchWeights(step, options);
      const own: Prepared = {
        channels: { [channel]: weights },
        metrics: { 'policy/mismatch_weight': trainedMean(step.channels.weight!, weights) ?? 1 },
      };
      const given = inner.prepare?.(step);
      return {
        channels: { ...given?.channels, ...own.channels },
        ...(given?.loss !== undefined && { loss: given.loss }),
        metrics: { ...given?.metrics, ...own.metrics },
      };
    },
    build: (tokens) => inner.build({ ...tokens, weight: multiply(tokens.weight, tokens.channel(channel)) }),
  };
}

/** The factor on every target's weight; 1 where nothing is trained. */
export function mismatchWeights(
  step: Pick<StepView, 'rows' | 'row_N' | 'position_N' | 'channels'>,
  { mode, smallest, largest, normalize }: MismatchOptions,
): Float32Array {
  const { row_N, position_N, channels } = step;
  const weight_N = channels.weight!;
  const x_N = weight_N.map((weight, target) => {
    if (weight === 0) return 0;
    const x = channels.oldLogprobs![target]! - channels.rolloutLogprobs![target]!;
    return within(finiteInput(x, `the log-ratio of token ${position_N[target]} of row ${row_N[target]}`));
  });
  const sum_B = targetsByRow(step).map((targets) =>
    within(targets.reduce((total, target) => total + x_N[target]!, 0)),
  );
  const weights = x_N.map((x, target) => {
    if (weight_N[target] === 0) return 1;
    const ratio = Math.exp(mode.startsWith('sequence') ? sum_B[row_N[target]!]! : x);
    if (mode === 'sequence-mask') return ratio > largest ? 0 : ratio;
    if (mode === 'icepop') return ratio < smallest || ratio > largest ? 0 : ratio;
    return Math.min(ratio, largest);
  });
  if (!normalize) return weights;
  const mean = trainedMean(weight_N, weights) ?? 0;
  return mean > 0 ? weights.map((weight) => weight / mean) : weights;
}

const within = (x: number): number => Math.min(Math.max(x, -20), 20);

/** The mean of some numbers over the trained targets; nothing where there are none. */
function trainedMean(weight_N: Float32Array, values_N: Float32Array): number | undefined {
  let [sum, count] = [0, 0];
  for (const [target, share] of weight_N.entries()) {
    if (share === 0) continue;
    sum += values_N[target]!;
    count++;
  }
  return count === 0 ? undefined : sum / count;
}

const described = {
  smallest: z.number().min(0).default(0.5).describe('Lower bound of icepop'),
  normalize: z.boolean().default(false).describe('Divide weights by their mean over the step'),
  policy: ppoClipOptions.prefault({}).describe('Settings of the clipped policy loss that is corrected'),
};
const capOf = (cap: number): z.ZodDefault<z.ZodNumber> =>
  z.number().positive().default(cap).describe('Largest weight, or largest ratio that is kept');

const truncatedSchema = z.strictObject({
  mode: z
    .enum(['truncate', 'sequence-truncate'])
    .default('truncate')
    .describe('Ratio of a token, or of its row'),
  largest: capOf(2),
  ...described,
});
const icepopSchema = z.strictObject({ largest: capOf(5), ...described });
const sequenceMaskSchema = z.strictObject({ largest: capOf(3), ...described });

/** PPO clip with truncated importance weights. */
export const truncatedImportanceSampling: ObjectiveMethod<typeof truncatedSchema> = defineObjective(
  {
    name: 'truncated-importance-sampling',
    title: 'Truncated importance sampling (TIS)',
    summary: 'weights tokens by how much likelier the trainer finds them than the sampler did, up to a cap',
    formula: 'Σ w min(π_old / π_rollout, C) ℓ_ppo',
    source: 'verl, rollout_corr_helper.py',
    family: 'policy',
    policyLoss: { clipsTokens: 'policy', trainerLogprobs: true },
  },
  truncatedSchema,
  ({ policy, ...options }) => correctMismatch(ppoClip(policy), options),
);

/** PPO clip without the tokens that sampler and trainer see very differently. */
export const icepop: ObjectiveMethod<typeof icepopSchema> = defineObjective(
  {
    name: 'icepop',
    title: 'IcePop',
    summary: 'leaves out tokens whose sampler and trainer disagree by more than a factor',
    formula: 'Σ w 1[a ≤ r ≤ b] r ℓ_ppo,   r = π_old / π_rollout',
    source: 'OpenRLHF, models/loss.py',
    family: 'policy',
    policyLoss: { clipsTokens: 'policy', trainerLogprobs: true },
  },
  icepopSchema,
  ({ policy, ...options }) => correctMismatch(ppoClip(policy), { mode: 'icepop', ...options }),
);

/** PPO clip with whole rows weighed by their ratio, and without those that the trainer finds much likelier. */
export const sequenceMask: ObjectiveMethod<typeof sequenceMaskSchema> = defineObjective(
  {
    name: 'sequence-mask',
    title: 'Sequence mask',
    summary:
      'weights whole rows by how much likelier the trainer finds them than the sampler did, and leaves out those above a cap',
    formula: 'Σ w 1[r ≤ C] r ℓ_ppo,   r = Π_t π_old / π_rollout over the row',
    source: 'TRL, grpo_trainer.py',
    family: 'policy',
    policyLoss: { clipsTokens: 'policy', trainerLogprobs: true },
  },
  sequenceMaskSchema,
  ({ policy, ...options }) => correctMismatch(ppoClip(policy), { mode: 'sequence-mask', ...options }),
);
