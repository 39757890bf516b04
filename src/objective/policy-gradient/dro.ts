/**
 * Direct reward optimisation: the policy gradient on data from any policy, held near it by a quadratic penalty.
 *
 *   loss = -Σ weight · (A · log π - ½ · beta · (log π - log π_old)²)
 *
 * Sources: Richemond et al., arXiv 2405.19107; Kimi k1.5, arXiv 2501.12599; the loss `dro` of the Tinker API.
 * 1. The papers penalise the log-ratio of the whole sequence, the service that of each token; this is the service's.
 * 2. The advantage of the papers is soft (it includes a learned log-normaliser); here it is whatever credit gives.
 */

import { z } from 'zod';
import { multiply, subtract } from '../../graph/operators/elementwise.ts';
import { exp, square } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { logRatio } from '../regularizer/kl.ts';
import { driftMetrics, totalOf } from './surrogate.ts';

const schema = z.strictObject({
  beta: z.number().min(0).default(0.05).describe('Weight of the penalty on squared log-ratios'),
});

/** Reads `advantages` and `oldLogprobs`. Metrics: `policy/ratio`, `policy/kl`, `policy/kl_k1`. */
export const dro: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'dro',
    title: 'DRO',
    summary: 'off-policy gradient with a quadratic penalty on log-ratios',
    formula: '-Σ w (A log π - β/2 (log π - log π_old)²)',
    source: 'arXiv 2405.19107; arXiv 2501.12599; Tinker API, dro',
    family: 'policy',
    policyLoss: {},
  },
  schema,
  ({ beta }) => ({
    channels: ['advantages', 'oldLogprobs'],
    needs: {},
    build: (tokens) => {
      const total = totalOf(tokens);
      const old = tokens.channel('oldLogprobs');
      const gain = multiply(tokens.channel('advantages'), tokens.logprobs);
      const penalty = multiply(square(subtract(tokens.logprobs, old)), beta / 2);
      const x = logRatio(tokens.logprobs, old);
      return { loss: total(subtract(penalty, gain)), metrics: driftMetrics(x, exp(x), tokens) };
    },
  }),
);
