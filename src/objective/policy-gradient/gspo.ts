/**
 * GSPO: one ratio for a whole sequence, the geometric mean of its tokens' ratios, clipped as one.
 *
 *   log s  = Σ_t (log π - log π_old) / tokens of the sequence
 *   log s_t = sg(log s) + log π - sg(log π)
 *   loss   = Σ weight · max(-A·s_t, -A·clip(s_t, 1 - clipLow, 1 + clipHigh)), at most -A·dualClip where A < 0
 *
 * Source: arXiv 2507.18071, with `sequence-mean-token-mean` weights and no KL; verl, core_algos.py.
 * 1. Only trained tokens count; observations inside a sequence do not.
 * 2. `level: turn` has one ratio per turn instead of one per row.
 * 3. A trajectory that was cut into several rows has one ratio per row.
 * 4. log s is kept within ±10.
 */

import { z } from 'zod';
import { add, clamp, subtract } from '../../graph/operators/elementwise.ts';
import { stopGradient } from '../../graph/operators/logic.ts';
import { exp } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { dualClipOption } from './clip-options.ts';
import { segmentLogRatio } from './segment-ratio.ts';
import { clipRatio, driftMetrics, surrogateLoss } from './surrogate.ts';

const schema = z.strictObject({
  level: z
    .enum(['sequence', 'turn'])
    .default('sequence')
    .describe('The unit that shares a ratio: a row, or a turn'),
  clipLow: z.number().min(0).max(1).default(3e-4).describe('Ratio clip below 1'),
  clipHigh: z.number().positive().default(4e-4).describe('Ratio clip above 1'),
  dualClip: dualClipOption.default(0),
});

const longestLogRatio = 10;

/** Reads `advantages` and `oldLogprobs`. Metrics as `ppo-clip`. */
export const gspo: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'gspo',
    title: 'GSPO',
    summary: 'one length-normalised ratio per sequence or turn',
    formula: 'Σ w max(-A s, -A clip(s, 1-ε_low, 1+ε_high)),   s = exp(mean_t(log π - log π_old))',
    source: 'arXiv 2507.18071',
    family: 'policy',
    policyLoss: {},
  },
  schema,
  ({ level, ...clip }) => ({
    channels: ['advantages', 'oldLogprobs'],
    needs: {},
    build: (tokens) => {
      const { logRatio } = segmentLogRatio(tokens, level === 'turn' ? 'turn' : 'row', 'mean');
      const own = subtract(tokens.logprobs, stopGradient(tokens.logprobs));
      const x = clamp(add(stopGradient(logRatio), own), -longestLogRatio, longestLogRatio);
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
