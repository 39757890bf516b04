/**
 * The divergence from a reference policy as part of the reward, and the coefficient that holds it near a target.
 *
 *   reward_t ← reward_t - β · (log π_old - log π_ref)
 *   β ← β · (1 + clip(KL / target - 1, ±0.2) · n / horizon)
 *
 * Source: Ziegler et al., arXiv 1909.08593; the defaults of verl's core_algos.py.
 */

export interface AdaptiveKl {
  readonly target: number;
  /** Samples over which the coefficient may change by the factor e^±0.2. */
  readonly horizon: number;
}

/** k1 per token, times -β: what is added to the rewards. */
export function klRewards(
  oldLogprobs_T: ArrayLike<number>,
  referenceLogprobs_T: ArrayLike<number>,
  coefficient: number,
): number[] {
  return Array.from(
    oldLogprobs_T,
    (logprob, token) => -coefficient * (logprob - referenceLogprobs_T[token]!),
  );
}

/** The next coefficient, after `samples` samples at a mean divergence of `kl`. */
export function adaptKlCoefficient(
  coefficient: number,
  kl: number,
  samples: number,
  { target, horizon }: AdaptiveKl = { target: 0.1, horizon: 10_000 },
): number {
  const error = Math.min(Math.max(kl / target - 1, -0.2), 0.2);
  return coefficient * (1 + (error * samples) / horizon);
}
