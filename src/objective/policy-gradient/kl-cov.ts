/**
 * KL-Cov: unclipped ratios, and a penalty on moving the tokens whose log-probability and advantage move together most.
 *
 *   loss = Σ weight · (-A·ρ + klCoefficient · |log π - log π_old| on the `share` of tokens with the largest cov)
 *
 * Source: arXiv 2505.22617.
 * 1. At least one token is penalised.
 */

import { z } from 'zod';
import { add, multiply, negate, subtract } from '../../graph/operators/elementwise.ts';
import { absolute, exp } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { logRatio } from '../regularizer/kl.ts';
import { covariances, markTokens, trainedTokens } from './covariance.ts';
import { driftMetrics, totalOf } from './surrogate.ts';

const schema = z.strictObject({
  share: z.number().min(0).max(1).default(2e-4).describe('Share of the tokens of a step that is penalised'),
  klCoefficient: z.number().min(0).default(1).describe('Weight of |log π - log π_old| on these tokens'),
});

/** Reads `advantages` and `oldLogprobs`, and scores the step. Metrics: `policy/ratio`, `policy/kl`, `policy/kl_k1`. */
export const klCov: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'kl-cov',
    title: 'KL-Cov',
    summary: 'unclipped ratios, with a penalty on moving the tokens of highest covariance',
    formula: 'Σ w (-Aρ + β |log π - log π_old| 1[t in the top share by covariance])',
    source: 'arXiv 2505.22617',
    family: 'policy',
    policyLoss: {},
  },
  schema,
  ({ share, klCoefficient }) => ({
    channels: ['advantages', 'oldLogprobs', 'covariancePenalized'],
    needs: { scores: {} },
    prepare: (step) => {
      const tokens = trainedTokens(step);
      const covariance = covariances(tokens);
      const order = [...tokens.keys()].sort((a, b) => covariance[b]! - covariance[a]! || a - b);
      const top = order.slice(0, Math.max(1, Math.floor(share * tokens.length)));
      const chosen = top.map((index) => tokens[index]!);
      return { channels: { covariancePenalized: markTokens(step, chosen, 0, klCoefficient) } };
    },
    build: (tokens) => {
      const total = totalOf(tokens);
      const old = tokens.channel('oldLogprobs');
      const x = logRatio(tokens.logprobs, old);
      const ratio = exp(x);
      const moved = absolute(subtract(tokens.logprobs, old));
      const loss = add(
        negate(multiply(tokens.channel('advantages'), ratio)),
        multiply(tokens.channel('covariancePenalized'), moved),
      );
      return { loss: total(loss), metrics: driftMetrics(x, ratio, tokens) };
    },
  }),
);
