/**
 * The clipped loss of a value head.
 *
 *   loss = valueCoefficient · ½ Σ weight · max((V - return)², (V_old + clip(V - V_old, ±valueClip) - return)²)
 *
 * Source: the released code of PPO, arXiv 1707.06347; the paper's loss is the one without a clip.
 */

import { z } from 'zod';
import { add, clamp, maximum, multiply, subtract } from '../../graph/operators/elementwise.ts';
import { cast, greater } from '../../graph/operators/logic.ts';
import { sum } from '../../graph/operators/reduce.ts';
import { square } from '../../graph/operators/unary.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { Objective } from '../contract/objective.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';

const schema = z.strictObject({
  valueCoefficient: z.number().min(0).default(0.5).describe('Weight of the value loss'),
  valueClip: z
    .number()
    .min(0)
    .default(0.2)
    .describe('How far a value may move from the old one before it stops being pulled; 0 is off'),
});

/**
 * Reads the channel `returns`, and `oldValues` where the clip is on; needs a value head. Metrics, each weighted like the
 * loss: `value/loss` (without the coefficient), `value/clip_fraction`, and the parts that `explainedVariance` puts
 * together: `value/weight`, `value/return`, `value/return_squared`, `value/error`, `value/error_squared`.
 */
export const valueLoss: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'value-loss',
    title: 'Clipped value loss',
    summary: 'squared error of a value head',
    formula: 'c/2 Σ w max((V - R)², (V_old + clip(V - V_old, ±ε) - R)²)',
    source: 'arXiv 1707.06347 and its code',
    family: 'value',
  },
  schema,
  ({ valueCoefficient, valueClip }) => ({
    channels: valueClip > 0 ? ['returns', 'oldValues'] : ['returns'],
    needs: { values: true },
    build: (tokens) => {
      const { weight, channel, values } = tokens;
      const total = totalOf(tokens);
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
  }),
);

/** A loss of values that trains the value head alone, on what the body says as it is. */
export function ofValueHead(objective: Objective): Objective {
  return { ...objective, key: `${objective.key} of the value head`, trains: 'value-head' };
}

/** A loss of values where only some tokens have a target: `valueWeight` is in the place of `weight`. */
export function atTargets(objective: Objective): Objective {
  return {
    ...objective,
    key: `${objective.key} at targets`,
    channels: [...objective.channels, 'valueWeight'],
    build: (tokens) => objective.build({ ...tokens, weight: tokens.channel('valueWeight') }),
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
