/**
 * The plain policy gradient, for one update on data from the present policy.
 *
 *   loss = -Σ weight · A · log π(token)
 *
 * Source: Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning",
 * Machine Learning 8, 1992.
 */

import { multiply, negate } from '../graph/operators/elementwise.ts';
import { sum } from '../graph/operators/reduce.ts';
import type { Objective } from './objective.ts';

/** Reads the channel `advantages`. */
export function policyGradient(): Objective {
  return {
    key: 'policy-gradient',
    channels: ['advantages'],
    needs: {},
    build: ({ logprobs, weight, channel }) => ({
      loss: negate(sum(multiply(weight, multiply(channel('advantages'), logprobs)))),
      metrics: {},
    }),
  };
}
