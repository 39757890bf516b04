/**
 * AEPO's clip: above the upper bound the value is PPO's, and the gradient is kept at the size it has at the bound.
 *
 *   loss as ppo-clip, with the upper clip (1 + clipHigh) · ρ / sg(ρ) in place of the constant 1 + clipHigh
 *
 * Source: arXiv 2510.14545 and its repository, from which the lower bound without gradient and dual clip come. The
 * method's entropy-aware advantage is a matter of credit, not of this loss.
 */

import { z } from 'zod';
import { divide, maximum, multiply } from '../../graph/operators/elementwise.ts';
import { greater, stopGradient, where } from '../../graph/operators/logic.ts';
import { exp } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { logRatio } from '../regularizer/kl.ts';
import { clipOptions } from './clip-options.ts';
import { driftMetrics, surrogateLoss } from './surrogate.ts';

const schema = z.strictObject(clipOptions);

/** Reads `advantages` and `oldLogprobs`. Metrics as `ppo-clip`. */
export const aepoClip: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'aepo-clip',
    title: 'AEPO clip',
    summary: 'PPO clip that keeps the gradient of tokens above the upper bound',
    formula: 'Σ w max(-Aρ, -Aρ̂),   ρ̂ = (1+ε_high) ρ / sg(ρ) above 1+ε_high, else max(ρ, 1-ε_low)',
    source: 'arXiv 2510.14545',
    family: 'policy',
    policyLoss: { clipsTokens: 'options' },
  },
  schema,
  ({ clipLow, clipHigh, dualClip }) => ({
    channels: ['advantages', 'oldLogprobs'],
    needs: {},
    build: (tokens) => {
      const x = logRatio(tokens.logprobs, tokens.channel('oldLogprobs'));
      const ratio = exp(x);
      const upper = multiply(divide(ratio, stopGradient(ratio)), 1 + clipHigh);
      const clipped = where(greater(ratio, 1 + clipHigh), upper, maximum(ratio, 1 - clipLow));
      const { loss, metrics } = surrogateLoss(
        tokens.channel('advantages'),
        { ratio, clipped, dualClip },
        tokens,
      );
      return { loss, metrics: { ...metrics, ...driftMetrics(x, ratio, tokens) } };
    },
  }),
);
