/**
 * The clipped policy loss of PPO, with dual clip, and optionally an entropy bonus and a KL to a reference policy.
 *
 *   ρ    = exp(log π - log π_old)
 *   loss = Σ weight · max(-A·ρ, -A·clip(ρ, 1 - clipLow, 1 + clipHigh)), at most -A·dualClip where A < 0
 *          - entropyCoefficient · Σ weight · H + klCoefficient · Σ weight · KL(π ‖ reference)
 *
 * Sources: PPO, arXiv 1707.06347; dual clip, arXiv 1912.09729; a wider upper clip (clip-higher), DAPO, arXiv 2503.14476.
 * 1. Log-ratios are kept within ±20 so that no token overflows.
 */

import { z } from 'zod';
import { exp } from '../../graph/operators/unary.ts';
import { combine } from '../contract/combine.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { Objective } from '../contract/objective.ts';
import { entropyBonus } from '../regularizer/entropy-bonus.ts';
import { klEstimators, logRatio } from '../regularizer/kl.ts';
import { klPenalty } from '../regularizer/kl-penalty.ts';
import { clipOptions } from './clip-options.ts';
import { type Clip, clipRatio, driftMetrics, surrogateLoss } from './surrogate.ts';

export const ppoClipOptions = z.strictObject({
  ...clipOptions,
  entropyCoefficient: z.number().min(0).default(0).describe('Weight of an entropy bonus; 0 is off'),
  klCoefficient: z.number().min(0).default(0).describe('Weight of the KL to a reference policy; 0 is off'),
  klEstimator: z.enum(klEstimators).default('k3+').describe('Estimator of that KL'),
});

export type PpoClipOptions = z.input<typeof ppoClipOptions>;

/**
 * Reads the channels `advantages` and `oldLogprobs`, and `referenceLogprobs` where the KL is on. Metrics, whatever
 * the weights of tokens: `policy/clip_fraction`, `policy/dual_clip_fraction`, `policy/ratio`, `policy/kl`, `policy/kl_k1`,
 * and, where they are on, `policy/entropy_exact` and `policy/kl_reference`.
 */
export const ppoClip: ObjectiveMethod<typeof ppoClipOptions> = defineObjective(
  {
    name: 'ppo-clip',
    title: 'PPO clip, dual clip, clip-higher',
    summary: 'policy gradient with ratios that stop counting once they leave a range',
    formula: 'Σ w max(-Aρ, -A clip(ρ, 1-ε_low, 1+ε_high)), at most -cA where A < 0;   ρ = π / π_old',
    source: 'arXiv 1707.06347; arXiv 1912.09729; arXiv 2503.14476',
    family: 'policy',
    policyLoss: { clipsTokens: 'options' },
  },
  ppoClipOptions,
  ({ entropyCoefficient, klCoefficient, klEstimator, ...clip }) =>
    combine([
      clippedPolicy(clip),
      ...(entropyCoefficient > 0 ? [entropyBonus({ entropyCoefficient })] : []),
      ...(klCoefficient > 0 ? [klPenalty({ klCoefficient, klEstimator })] : []),
    ]),
);

function clippedPolicy(clip: Clip): Objective {
  return {
    key: 'clipped-policy',
    channels: ['advantages', 'oldLogprobs'],
    needs: {},
    build: (tokens) => {
      const x = logRatio(tokens.logprobs, tokens.channel('oldLogprobs'));
      const ratio = exp(x);
      const clipped = clipRatio(ratio, clip);
      const { loss, metrics } = surrogateLoss(
        tokens.channel('advantages'),
        { ratio, clipped, dualClip: clip.dualClip },
        tokens,
      );
      return { loss, metrics: { ...metrics, ...driftMetrics(x, ratio, tokens) } };
    },
  };
}
