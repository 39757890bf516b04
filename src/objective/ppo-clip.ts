/**
 * The clipped policy loss of PPO, with dual clip, and optionally an entropy bonus and a KL to a reference policy.
 *
 *   ρ    = exp(log π - log π_old)
 *   loss = Σ weight · max(-A·ρ, -A·clip(ρ, 1 - clipLow, 1 + clipHigh)), at most -A·dualClip where A < 0
 *          - entropyCoefficient · Σ weight · H + klCoefficient · Σ weight · KL(π ‖ reference)
 *
 * Sources: PPO, arXiv 1707.06347; dual clip, arXiv 1912.09729; a wider upper clip, DAPO, arXiv 2503.14476.
 * 1. Log-ratios are kept within ±20 so that no token overflows.
 * 2. The KL is estimated on tokens of the old policy without importance weights.
 */

import { TurnwiseError } from '../core/errors.ts';
import { add, clamp, maximum, minimum, multiply, negate, subtract } from '../graph/operators/elementwise.ts';
import { cast, greater, less, where } from '../graph/operators/logic.ts';
import { sum } from '../graph/operators/reduce.ts';
import { exp } from '../graph/operators/unary.ts';
import type { Tensor } from '../graph/tensor.ts';
import { type KlEstimator, klEstimate, logRatio } from './kl.ts';
import type { Objective, TokenTensors } from './objective.ts';

export interface PpoClipOptions {
  readonly clipLow: number;
  readonly clipHigh: number;
  /** Bound on the loss of negative advantages, as a multiple of |A|, more than 1; 0 is off. */
  readonly dualClip: number;
  /** 0 is off; otherwise the engine computes entropies. */
  readonly entropyCoefficient: number;
  /** 0 is off; otherwise the channel `referenceLogprobs` is read. */
  readonly klCoefficient: number;
  readonly klEstimator: KlEstimator;
}

const defaults: PpoClipOptions = {
  clipLow: 0.2,
  clipHigh: 0.28,
  dualClip: 3,
  entropyCoefficient: 0,
  klCoefficient: 0,
  klEstimator: 'k3+',
};

/**
 * Reads the channels `advantages` and `oldLogprobs`. Metrics, each weighted like the loss:
 * `policy/clip_fraction` (tokens whose gradient the ratio clip removed), `policy/dual_clip_fraction`, `policy/ratio`,
 * `policy/kl` and `policy/kl_k1` (from the sampling policy, by k3 and by k1), and, where they are on,
 * `policy/entropy_exact` and `policy/kl_reference` (by k3).
 */
export function ppoClip(options: Partial<PpoClipOptions> = {}): Objective {
  const settings = { ...defaults, ...options };
  const { dualClip, entropyCoefficient, klCoefficient } = settings;
  if (dualClip !== 0 && !(dualClip > 1)) {
    throw new TurnwiseError('invalid-objective-option', {
      what: 'Dual clip must bound the loss above the point where the ratio is 1',
      seen: `dualClip ${dualClip}`,
      allowed: 'a number above 1, or 0 for off',
    });
  }
  return {
    key: `ppo-clip ${JSON.stringify(settings)}`,
    channels: ['advantages', 'oldLogprobs', ...(klCoefficient > 0 ? ['referenceLogprobs'] : [])],
    needs: entropyCoefficient > 0 ? { entropies: true } : {},
    build: (tokens) => {
      const total = (perToken: Tensor): Tensor => sum(multiply(tokens.weight, perToken));
      const policy = policyLoss(tokens, settings, total);
      const metrics: Record<string, Tensor> = { ...policy.metrics };
      let { loss } = policy;
      if (entropyCoefficient > 0) {
        const entropy = total(tokens.entropies());
        loss = subtract(loss, multiply(entropy, entropyCoefficient));
        metrics['policy/entropy_exact'] = entropy;
      }
      if (klCoefficient > 0) {
        const x = logRatio(tokens.logprobs, tokens.channel('referenceLogprobs'));
        loss = add(loss, multiply(total(klEstimate(settings.klEstimator, x)), klCoefficient));
        metrics['policy/kl_reference'] = total(klEstimate('k3', x));
      }
      return { loss, metrics };
    },
  };
}

function policyLoss(
  { logprobs, channel }: TokenTensors,
  { clipLow, clipHigh, dualClip }: PpoClipOptions,
  total: (perToken: Tensor) => Tensor,
): { readonly loss: Tensor; readonly metrics: Record<string, Tensor> } {
  const advantages = channel('advantages');
  const x = logRatio(logprobs, channel('oldLogprobs'));
  const ratio = exp(x);
  const plain = negate(multiply(advantages, ratio));
  const clipped = negate(multiply(advantages, clamp(ratio, 1 - clipLow, 1 + clipHigh)));
  const metrics: Record<string, Tensor> = {
    'policy/clip_fraction': total(cast(greater(clipped, plain), 'float32')),
    'policy/ratio': total(ratio),
    // The samples are from the old policy, so the sign turns: this is KL(π_old ‖ π).
    'policy/kl': total(klEstimate('k3', negate(x))),
    'policy/kl_k1': total(negate(x)),
  };
  const single = maximum(plain, clipped);
  if (dualClip === 0) return { loss: total(single), metrics };
  const bound = multiply(advantages, -dualClip);
  const negative = cast(less(advantages, 0), 'float32');
  metrics['policy/dual_clip_fraction'] = total(multiply(negative, cast(greater(single, bound), 'float32')));
  return { loss: total(where(less(advantages, 0), minimum(single, bound), single)), metrics };
}
