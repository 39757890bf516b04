/**
 * A penalty on the divergence from a reference policy, as a term of the loss.
 *
 *   loss = klCoefficient · Σ weight · KL(π ‖ reference), by one of the estimators of `kl.ts`
 *
 * Sources: Schulman, "Approximating KL Divergence", 2020; DeepSeekMath, arXiv 2402.03300 (k3 as a loss).
 * 1. The KL is estimated on tokens of the old policy without importance weights.
 * 2. k1 is refused: as a loss its gradient has mean zero. It belongs into the reward (`kl-reward.ts`).
 */

import { z } from 'zod';
import { multiply } from '../../graph/operators/elementwise.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { figureOf, totalOf } from '../policy-gradient/surrogate.ts';
import { klEstimate, klEstimators, logRatio } from './kl.ts';

const schema = z.strictObject({
  klCoefficient: z.number().min(0).default(0.001).describe('Weight of the divergence'),
  klEstimator: z
    .enum(klEstimators)
    .default('k3+')
    .describe('k2, k3, or k3+: the value of k3 with the gradient of k2, the gradient of the KL'),
});

/** Reads the channel `referenceLogprobs`. Metric: `policy/kl_reference` (by k3). */
export const klPenalty: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'kl-penalty',
    title: 'KL to a reference policy',
    summary: 'holds the policy near a reference',
    formula: 'β · Σ w KL,   x = log π - log π_ref,   k2 = x²/2,   k3 = e^-x - 1 + x',
    source: 'Schulman 2020; arXiv 2402.03300',
    family: 'regulariser',
  },
  schema,
  ({ klCoefficient, klEstimator }) => ({
    channels: ['referenceLogprobs'],
    needs: {},
    build: (tokens) => {
      const total = totalOf(tokens);
      const x = logRatio(tokens.logprobs, tokens.channel('referenceLogprobs'));
      return {
        loss: multiply(total(klEstimate(klEstimator, x)), klCoefficient),
        metrics: { 'policy/kl_reference': figureOf(tokens)(klEstimate('k3', x)) },
      };
    },
  }),
);
