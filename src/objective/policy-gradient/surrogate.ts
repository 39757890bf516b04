/** The clipped surrogate of PPO per token, which several objectives share: they differ in ratio and clip. */

import { clamp, maximum, minimum, multiply, negate } from '../../graph/operators/elementwise.ts';
import { cast, greater, less, where } from '../../graph/operators/logic.ts';
import { sum } from '../../graph/operators/reduce.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { TokenTensors } from '../contract/objective.ts';
import { klEstimate } from '../regularizer/kl.ts';

export interface Clip {
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly dualClip: number;
}

/** Sums over tokens by their weights. */
export type Total = (perToken: Tensor) => Tensor;

export function totalOf({ weight }: Pick<TokenTensors, 'weight'>): Total {
  return (perToken) => sum(multiply(weight, perToken));
}

/**
 * For figures of the policy: sums over the tokens that count, each once, whatever its share of the loss. `policyMeans` makes
 * means of them.
 */
export function figureOf({ counted }: Pick<TokenTensors, 'counted'>): Total {
  return (perToken) => sum(multiply(counted, perToken));
}

/** 1 on tokens that are trained, 0 elsewhere. */
export function trainedMask({ weight }: Pick<TokenTensors, 'weight'>): Tensor {
  return cast(greater(weight, 0), 'float32');
}

export function clipRatio(ratio: Tensor, { clipLow, clipHigh }: Pick<Clip, 'clipLow' | 'clipHigh'>): Tensor {
  return clamp(ratio, 1 - clipLow, 1 + clipHigh);
}

/**
 * max(-A·ratio, -A·clipped), at most -A·dualClip where A < 0, summed by weight. Metrics: `policy/clip_fraction` (tokens
 * whose gradient the ratio clip removed) and, where it is on, `policy/dual_clip_fraction`.
 */
export function surrogateLoss(
  advantages: Tensor,
  {
    ratio,
    clipped,
    dualClip,
  }: { readonly ratio: Tensor; readonly clipped: Tensor; readonly dualClip: number },
  tokens: TokenTensors,
): { readonly loss: Tensor; readonly metrics: Record<string, Tensor> } {
  const plain = negate(multiply(advantages, ratio));
  const bounded = negate(multiply(advantages, clipped));
  const [total, figure] = [totalOf(tokens), figureOf(tokens)];
  const metrics: Record<string, Tensor> = {
    'policy/clip_fraction': figure(cast(greater(bounded, plain), 'float32')),
  };
  const single = maximum(plain, bounded);
  if (dualClip === 0) return { loss: total(single), metrics };
  const bound = multiply(advantages, -dualClip);
  const negative = cast(less(advantages, 0), 'float32');
  metrics['policy/dual_clip_fraction'] = figure(multiply(negative, cast(greater(single, bound), 'float32')));
  return { loss: total(where(less(advantages, 0), minimum(single, bound), single)), metrics };
}

/**
 * How far the policy is from the one that sampled, by the log-ratio x: `policy/ratio`, and `policy/kl` and
 * `policy/kl_k1` (by k3 and by k1). The samples are from the old policy, so the sign turns: this is KL(π_old ‖ π).
 */
export function driftMetrics(x: Tensor, ratio: Tensor, tokens: TokenTensors): Record<string, Tensor> {
  const figure = figureOf(tokens);
  return {
    'policy/ratio': figure(ratio),
    'policy/kl': figure(klEstimate('k3', negate(x))),
    'policy/kl_k1': figure(negate(x)),
  };
}
