/**
 * Cross-entropy on given tokens, which is behaviour cloning where they are an expert's.
 *
 *   loss = -Σ weight · log π(token)
 */

import { multiply, negate } from '../graph/operators/elementwise.ts';
import { sum } from '../graph/operators/reduce.ts';
import { exp } from '../graph/operators/unary.ts';
import { namedLoss } from './named-losses.ts';
import type { Objective } from './objective.ts';

/** Reads no channel. Metric `clone/probability`: mean probability of the given tokens. */
export function crossEntropy(): Objective {
  return {
    key: 'cross-entropy',
    channels: [],
    needs: {},
    named: namedLoss('cross_entropy'),
    build: ({ logprobs, weight }) => ({
      loss: negate(sum(multiply(weight, logprobs))),
      metrics: { 'clone/probability': sum(multiply(weight, exp(logprobs))) },
    }),
  };
}
