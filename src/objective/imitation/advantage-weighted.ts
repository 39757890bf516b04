/**
 * Advantage-weighted regression: imitation of recorded actions, more of the better ones. It needs no ratios, so data may
 * be from any policy.
 *
 *   loss = -Σ weight · min(exp(A / temperature), largestWeight) · log π
 *
 * Sources: AWR, arXiv 1910.00177; the offline actor of ArCHer, arXiv 2402.19446, is the same with IQL advantages.
 * 1. Weights are not normalised over the batch, as in the authors' code.
 */

import { z } from 'zod';
import { minimum, multiply, negate } from '../../graph/operators/elementwise.ts';
import { exp } from '../../graph/operators/unary.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';

const schema = z.strictObject({
  temperature: z.number().positive().default(1).describe('How far apart advantages must be to matter'),
  largestWeight: z.number().positive().default(20).describe('Weights are at most this'),
});

/** Reads `advantages`. Metric `imitation/weight`: mean weight. */
export const advantageWeighted: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'awr',
    title: 'Advantage-weighted regression (AWR)',
    summary: 'imitates recorded actions by their advantage',
    formula: '-Σ w min(exp(A / τ), c) log π',
    source: 'arXiv 1910.00177',
    family: 'imitation',
  },
  schema,
  ({ temperature, largestWeight }) => ({
    channels: ['advantages'],
    needs: {},
    build: (tokens) => {
      const total = totalOf(tokens);
      // The cap comes before the exponential, so that no weight overflows.
      const exponent = minimum(
        multiply(tokens.channel('advantages'), 1 / temperature),
        Math.log(largestWeight),
      );
      const weights = exp(exponent);
      return {
        loss: negate(total(multiply(weights, tokens.logprobs))),
        metrics: { 'imitation/weight': total(weights) },
      };
    },
  }),
);
