/**
 * The clipped loss of a value head.
 *
 *   loss = valueCoefficient · ½ Σ weight · max((V - return)², (V_old + clip(V - V_old, ±valueClip) - return)²)
 *
 * Source: the released code of PPO, arXiv 1707.06347; the paper's loss is the one without a clip.
 */

import { TurnwiseError } from '../core/errors.ts';
import { add, clamp, maximum, multiply, subtract } from '../graph/operators/elementwise.ts';
import { cast, greater } from '../graph/operators/logic.ts';
import { sum } from '../graph/operators/reduce.ts';
import { square } from '../graph/operators/unary.ts';
import type { Tensor } from '../graph/tensor.ts';
import type { Objective } from './objective.ts';

export interface ValueLossOptions {
  readonly valueCoefficient: number;
  /** How far the value may move from the old one before it stops being pulled; 0 is off. */
  readonly valueClip: number;
}

const defaults: ValueLossOptions = { valueCoefficient: 0.5, valueClip: 0.2 };

/**
 * Reads the channel `returns`, and `oldValues` where the clip is on; needs a value head. Metrics, each weighted like the
 * loss: `value/loss` (without the coefficient), `value/clip_fraction`, and the parts that `explainedVariance` puts
 * together: `value/weight`, `value/return`, `value/return_squared`, `value/error`, `value/error_squared`.
 */
export function valueLoss(options: Partial<ValueLossOptions> = {}): Objective {
  const settings = { ...defaults, ...options };
  const { valueCoefficient, valueClip } = settings;
  if (!(valueCoefficient >= 0 && valueClip >= 0)) {
    throw new TurnwiseError('invalid-objective-option', {
      what: 'The settings of the value loss must not be negative',
      seen: JSON.stringify(settings),
    });
  }
  return {
    key: `value ${JSON.stringify(settings)}`,
    channels: valueClip > 0 ? ['returns', 'oldValues'] : ['returns'],
    needs: { values: true },
    build: ({ weight, channel, values }) => {
      const total = (perToken: Tensor): Tensor => sum(multiply(weight, perToken));
      const returns = channel('returns');
      const error = subtract(values(), returns);
      const plain = square(error);
      const metrics: Record<string, Tensor> = {
        'value/weight': sum(weight),
        'value/return': total(returns),
        'value/return_squared': total(square(returns)),
        'value/error': total(error),
        'value/error_squared': total(plain),
      };
      let squared = plain;
      if (valueClip > 0) {
        const oldValues = channel('oldValues');
        const moved = clamp(subtract(values(), oldValues), -valueClip, valueClip);
        const clipped = square(subtract(add(oldValues, moved), returns));
        squared = maximum(plain, clipped);
        metrics['value/clip_fraction'] = total(cast(greater(clipped, plain), 'float32'));
      }
      const halved = multiply(total(squared), 0.5);
      metrics['value/loss'] = halved;
      return { loss: multiply(halved, valueCoefficient), metrics };
    },
  };
}

/**
 * The share of the variance of returns that values explain, from the metrics of `valueLoss`, summed or averaged over
 * micro-batches: 1 is perfect, 0 no better than a constant. 0 where returns do not vary.
 */
export function explainedVariance(metrics: Readonly<Record<string, number>>): number {
  const weight = metrics['value/weight'] ?? 0;
  const mean = (name: string): number => metrics[name]! / weight;
  if (!(weight > 0)) return 0;
  const returnVariance = mean('value/return_squared') - mean('value/return') ** 2;
  const errorVariance = mean('value/error_squared') - mean('value/error') ** 2;
  return returnVariance > 1e-12 ? 1 - errorVariance / returnVariance : 0;
}
