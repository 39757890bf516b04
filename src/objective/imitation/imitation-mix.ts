/**
 * Policy gradients and imitation in one loss. Rows carry two sets of weights: `weight` on tokens that the policy sampled,
 * and `imitation` on tokens that are given; either may be zero everywhere in a row.
 *
 *   sft-rl:  loss = (1 - μ) · Σ weight · PPO clip - μ · Σ imitation · f(log π) · log π
 *            μ rises linearly from 0 to `peak` in `warmupSteps`, then falls along a cosine to `valley` in `decaySteps`
 *   gtr:     loss = Σ weight · PPO clip - imitationCoefficient · Σ imitation · log π
 *            where `imitation` is on the corrected thoughts, in rows of their own
 *
 * Sources: DataMind, arXiv 2509.25084, dp_actor.py and multi.sh; f from CHORD, arXiv 2508.11408; GTR, arXiv 2503.08525.
 * 1. f is 1, or p(1 - p), or p (importance weights of expert tokens), and is constant in the gradient.
 * 2. μ is part of the weights, so that its schedule does not change the graph.
 * 3. GTR's corrections are aggregated over steps (DAgger); which of them are in a step is the caller's choice, and so is how
 *    much of the policy gradient reaches thoughts. The weight of imitation is 1, as in the released code.
 */

import { z } from 'zod';
import { add, multiply, negate, subtract } from '../../graph/operators/elementwise.ts';
import { stopGradient } from '../../graph/operators/logic.ts';
import { exp } from '../../graph/operators/unary.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { Objective, StepView } from '../contract/objective.ts';
import { ppoClip, ppoClipOptions } from '../policy-gradient/ppo-clip.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';

export interface MixSchedule {
  readonly warmupSteps: number;
  readonly decaySteps: number;
  readonly peak: number;
  readonly valley: number;
}

/** The share of imitation at a step. */
export function imitationShare(step: number, { warmupSteps, decaySteps, peak, valley }: MixSchedule): number {
  if (step < warmupSteps) return (peak * step) / warmupSteps;
  const progress = decaySteps === 0 ? 1 : Math.min(1, (step - warmupSteps) / decaySteps);
  return valley + 0.5 * (peak - valley) * (1 + Math.cos(Math.PI * progress));
}

const tokenWeights = ['uniform', 'uncertain', 'importance'] as const;

/** The policy loss with its weights times `policyShare`, plus imitation with its weights times `imitationShare`. */
function mix(
  policy: Objective,
  shares: (step: number) => { readonly policy: number; readonly imitation: number },
  form: (typeof tokenWeights)[number],
): Omit<Objective, 'key'> {
  return {
    channels: [...policy.channels, 'policyWeight', 'imitationWeight'],
    needs: policy.needs,
    prepare: ({ channels, step }: StepView) => {
      const share = shares(step);
      const scaled = (name: string, factor: number): Float32Array =>
        channels[name]!.map((weight) => factor * weight);
      return {
        channels: {
          policyWeight: scaled('weight', share.policy),
          imitationWeight: scaled('imitation', share.imitation),
        },
        metrics: { 'imitation/share': share.imitation },
      };
    },
    build: (tokens) => {
      const { loss, metrics } = policy.build({ ...tokens, weight: tokens.channel('policyWeight') });
      const imitated = multiply(tokenWeight(tokens.logprobs, form), tokens.logprobs);
      const imitation = negate(totalOf({ weight: tokens.channel('imitationWeight') })(imitated));
      return { loss: add(loss, imitation), metrics: { ...metrics, 'imitation/loss': imitation } };
    },
  };
}

function tokenWeight(logprobs: Tensor, form: (typeof tokenWeights)[number]): Tensor {
  const probability = stopGradient(exp(logprobs));
  if (form === 'importance') return probability;
  if (form === 'uncertain') return multiply(probability, subtract(1, probability));
  return logprobs.graph.constant(1);
}

const policy = ppoClipOptions.prefault({}).describe('Settings of the clipped policy loss');
const mixSchema = z.strictObject({
  warmupSteps: z.int().min(0).default(0).describe('Steps in which the share of imitation rises to its peak'),
  decaySteps: z.int().min(0).default(350).describe('Steps in which it then falls to its valley'),
  peak: z.number().min(0).max(1).default(0.9).describe('Largest share of imitation'),
  valley: z.number().min(0).max(1).default(0.05).describe('Share of imitation at the end'),
  tokenWeights: z
    .enum(tokenWeights)
    .default('uniform')
    .describe('Weight of an imitated token: 1, p(1 - p), or p'),
  policy,
});
const gtrSchema = z.strictObject({
  imitationCoefficient: z.number().min(0).default(1).describe('Weight of imitating corrected thoughts'),
  policy,
});

/** Reads `imitation` and what `ppo-clip` reads. Metrics as `ppo-clip`, and `imitation/share`, `imitation/loss`. */
export const sftRl: ObjectiveMethod<typeof mixSchema> = defineObjective(
  {
    name: 'sft-rl',
    title: 'Mixed SFT and RL (DataMind)',
    summary: 'imitation first, then more and more policy gradient, in one loss',
    formula: '(1-μ) Σ w ℓ_ppo - μ Σ w_sft f(π) log π,   μ a cosine from peak to valley',
    source: 'arXiv 2509.25084; arXiv 2508.11408',
    family: 'imitation',
  },
  mixSchema,
  ({ policy: clip, tokenWeights: form, ...schedule }) =>
    mix(
      ppoClip(clip),
      (step) => {
        const share = imitationShare(step, schedule);
        return { policy: 1 - share, imitation: share };
      },
      form,
    ),
);

/** Reads and reports what `sft-rl` does. */
export const gtr: ObjectiveMethod<typeof gtrSchema> = defineObjective(
  {
    name: 'gtr',
    title: 'GTR, corrected-thought imitation',
    summary: 'PPO on sampled tokens, imitation of thoughts that a corrector rewrote',
    formula: 'Σ_sampled w ℓ_ppo - c Σ_corrected w log π',
    source: 'arXiv 2503.08525',
    family: 'imitation',
  },
  gtrSchema,
  ({ policy: clip, imitationCoefficient }) =>
    mix(ppoClip(clip), () => ({ policy: 1, imitation: imitationCoefficient }), 'uniform'),
);
