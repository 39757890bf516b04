/**
 * The policy gradient on data from another policy, by importance weights that nothing bounds.
 *
 *   loss = -Σ weight · A · ρ,   ρ = π / π_old
 *
 * Source: the loss `importance_sampling` of the Tinker API.
 * 1. Log-ratios are kept within ±20 so that no token overflows.
 * 2. Weights carry the step's denominator; the service sums over tokens.
 */

import { z } from 'zod';
import { multiply, negate } from '../../graph/operators/elementwise.ts';
import { exp } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { logRatio } from '../regularizer/kl.ts';
import { driftMetrics, totalOf } from './surrogate.ts';

const schema = z.strictObject({});

/** Reads `advantages` and `oldLogprobs`. Metrics: `policy/ratio`, `policy/kl`, `policy/kl_k1`. */
export const importanceSampling: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'importance-sampling',
    title: 'Importance sampling',
    summary: 'policy gradient with unbounded ratios',
    formula: '-Σ w A ρ,   ρ = π / π_old',
    source: 'Tinker API, importance_sampling',
    family: 'policy',
    policyLoss: {},
  },
  schema,
  () => ({
    channels: ['advantages', 'oldLogprobs'],
    needs: {},
    build: (tokens) => {
      const total = totalOf(tokens);
      const x = logRatio(tokens.logprobs, tokens.channel('oldLogprobs'));
      const ratio = exp(x);
      return {
        loss: negate(total(multiply(tokens.channel('advantages'), ratio))),
        metrics: driftMetrics(x, ratio, tokens),
      };
    },
  }),
);
