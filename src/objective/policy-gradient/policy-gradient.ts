/**
 * The plain policy gradient, for one update on data from the present policy.
 *
 *   loss = -Σ weight · A · log π(token)
 *
 * Source: Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning",
 * Machine Learning 8, 1992.
 */

import { z } from 'zod';
import { multiply, negate } from '../../graph/operators/elementwise.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { totalOf } from './surrogate.ts';

const schema = z.strictObject({});

/** Reads the channel `advantages`. */
export const policyGradient: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'policy-gradient',
    title: 'Policy gradient',
    summary: 'log-likelihood times advantage, for fresh data',
    formula: '-Σ w A log π',
    source: 'Williams 1992',
    family: 'policy',
    policyLoss: {},
  },
  schema,
  () => ({
    channels: ['advantages'],
    needs: {},
    build: (tokens) => ({
      loss: negate(totalOf(tokens)(multiply(tokens.channel('advantages'), tokens.logprobs))),
      metrics: {},
    }),
  }),
);
