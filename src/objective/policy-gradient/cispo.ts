/**
 * CISPO: importance weights are clipped and held constant, so that every token keeps a gradient.
 *
 *   loss = -Σ weight · sg(clip(ρ, 1 - clipLow, 1 + clipHigh)) · A · log π
 *
 * Source: MiniMax-M1, arXiv 2506.13585, with GRPO advantages, token-mean weights, and no KL.
 * 1. The paper tunes only the upper bound; the lower one is off by default (clipLow 1).
 * 2. The upper bound is 1 + clipHigh, as in verl. TRL gives the bound itself, 5, which is the default here (1 + 4).
 */

import { z } from 'zod';
import { multiply, negate, subtract } from '../../graph/operators/elementwise.ts';
import { cast, equal, stopGradient } from '../../graph/operators/logic.ts';
import { exp } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { logRatio } from '../regularizer/kl.ts';
import { clipRatio, driftMetrics, figureOf, totalOf } from './surrogate.ts';

const schema = z.strictObject({
  clipLow: z.number().min(0).max(1).default(1).describe('Weights are at least 1 minus this; 1 is off'),
  clipHigh: z.number().positive().default(4).describe('Weights are at most 1 plus this'),
});

/** Reads `advantages` and `oldLogprobs`. Metrics: `policy/clip_fraction`, `policy/ratio`, `policy/kl`, `policy/kl_k1`. */
export const cispo: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'cispo',
    title: 'CISPO',
    summary: 'clips importance weights instead of updates, so no token loses its gradient',
    formula: '-Σ w sg(clip(ρ, 1-ε_low, 1+ε_high)) A log π',
    source: 'arXiv 2506.13585',
    family: 'policy',
    policyLoss: {},
  },
  schema,
  (clip) => ({
    channels: ['advantages', 'oldLogprobs'],
    needs: {},
    build: (tokens) => {
      const total = totalOf(tokens);
      const x = logRatio(tokens.logprobs, tokens.channel('oldLogprobs'));
      const ratio = exp(x);
      const weights = stopGradient(clipRatio(ratio, clip));
      const kept = cast(equal(weights, ratio), 'float32');
      return {
        loss: negate(total(multiply(multiply(weights, tokens.channel('advantages')), tokens.logprobs))),
        metrics: {
          'policy/clip_fraction': figureOf(tokens)(subtract(1, kept)),
          ...driftMetrics(x, ratio, tokens),
        },
      };
    },
  }),
);
