/**
 * Estimates of KL(π ‖ reference) from tokens sampled from π, by x = log π - log reference.
 *
 *   k1 = x,   k2 = x²/2,   k3 = exp(-x) - 1 + x
 *
 * All have the right mean or nearly so; k3 is never negative and varies little. As losses they differ: the gradient of
 * the KL is the mean of x·∇log π, which is that of k2; that of k3 is another; that of k1 has mean zero and teaches
 * nothing, so k1 is not offered. `k3+` has the value of k3 and the gradient of k2.
 *
 * Source: Schulman, "Approximating KL Divergence", 2020.
 */

import { add, clamp, multiply, negate, subtract } from '../../graph/operators/elementwise.ts';
import { stopGradient } from '../../graph/operators/logic.ts';
import { exp, square } from '../../graph/operators/unary.ts';
import type { Tensor } from '../../graph/tensor.ts';

export const klEstimators = ['k2', 'k3', 'k3+'] as const;
export type KlEstimator = (typeof klEstimators)[number];

const longestLogRatio = 20;
const largestEstimate = 10;

/** A difference of log-probabilities, kept where its exponential is finite. */
export function logRatio(logprobs: Tensor, others: Tensor): Tensor {
  return clamp(subtract(logprobs, others), -longestLogRatio, longestLogRatio);
}

/** The estimate per token; x is a `logRatio`. Values of k3 are cut at 10. */
export function klEstimate(estimator: KlEstimator, x: Tensor): Tensor {
  const k2 = multiply(square(x), 0.5);
  if (estimator === 'k2') return k2;
  const k3 = clamp(add(subtract(exp(negate(x)), 1), x), -largestEstimate, largestEstimate);
  return estimator === 'k3' ? k3 : add(stopGradient(subtract(k3, k2)), k2);
}
