/**
 * Turn-PPO: PPO whose action is a turn. One ratio per turn is clipped, with the turn's advantage.
 *
 *   log ρ_k = mean or sum over the tokens of turn k of (log π - log π_old)
 *   loss    = Σ weight · max(-A·ρ_k, -A·clip(ρ_k, 1 - clipLow, 1 + clipHigh)), at most -A·dualClip where A < 0
 *
 * Source: arXiv 2512.17008; advantages from turn-level GAE.
 * 1. How the paper normalises the ratio could not be verified: the geometric mean over the tokens is the default, since
 *    a product leaves any clip after a few dozen tokens; `ratio: product` is the plain probability ratio of the turn.
 * 2. The gradient flows through the ratio of the turn to all its tokens, also from tokens of unequal weight.
 */

import { z } from 'zod';
import { exp } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { clipOptions } from './clip-options.ts';
import { segmentLogRatio } from './segment-ratio.ts';
import { clipRatio, driftMetrics, surrogateLoss } from './surrogate.ts';

const schema = z.strictObject({
  ratio: z
    .enum(['geometric-mean', 'product'])
    .default('geometric-mean')
    .describe('How the ratios of the tokens of a turn become one'),
  ...clipOptions,
  clipHigh: clipOptions.clipHigh.default(0.2),
});

/** Reads `advantages` and `oldLogprobs`. Metrics as `ppo-clip`. */
export const turnPpo: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'turn-ppo',
    title: 'Turn-PPO',
    summary: 'PPO with one clipped ratio per turn',
    formula: 'Σ w max(-A ρ_k, -A clip(ρ_k, 1-ε_low, 1+ε_high)),   ρ_k the ratio of turn k',
    source: 'arXiv 2512.17008',
    family: 'policy',
    policyLoss: {},
  },
  schema,
  ({ ratio: form, ...clip }) => ({
    channels: ['advantages', 'oldLogprobs'],
    needs: {},
    build: (tokens) => {
      const { logRatio: x } = segmentLogRatio(tokens, 'turn', form === 'product' ? 'sum' : 'mean');
      const ratio = exp(x);
      const clipped = clipRatio(ratio, clip);
      const { loss, metrics } = surrogateLoss(
        tokens.channel('advantages'),
        { ratio, clipped, dualClip: clip.dualClip },
        tokens,
      );
      return { loss, metrics: { ...metrics, ...driftMetrics(x, ratio, tokens) } };
    },
  }),
);
