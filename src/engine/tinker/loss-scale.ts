/**
 * How a server turns the losses of tokens into the one it differentiates; our weights then make the same of it everywhere.
 *
 * - `sum`: all weighted token losses, added up (the hosted service, `turnwise serve`).
 * - `mean`: each datum's sum divided by the sum of its weights, then averaged over all data since the last optimizer step
 *   (SkyRL on jax).
 */

import { TurnwiseError } from '../../core/errors.ts';
import type { Datum } from '../../wire/tinker/shapes.ts';
import type { TinkerService } from './service.ts';
import { type ModelRequest, TrainingModel } from './training-model.ts';

export type LossScale = 'sum' | 'mean';

const loss = { name: 'cross_entropy', settings: {} };
const hold = { learningRate: 0, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, clipNorm: 0 };

/**
 * Finds out on a model of its own, which is given back: services that add up say so in their metrics; of others the gradient
 * of one datum is compared with that of the same datum thrice, once at double weight.
 *
 * @throws TurnwiseError `tinker-scale-unknown`
 */
export async function findLossScale(
  service: TinkerService,
  request: ModelRequest,
  protobuf: boolean,
): Promise<LossScale> {
  const model = await TrainingModel.create(service, request, protobuf);
  try {
    const first = await model.forwardBackward([probe(1)], loss);
    if ('loss:sum' in first.metrics) return 'sum';
    const single = gradientNorm(await model.optimStep(hold));
    await model.forwardBackward([probe(1), probe(2)], loss);
    const triple = gradientNorm(await model.optimStep(hold));
    const ratio = (triple ?? 0) / (single ?? 0);
    if (Math.abs(ratio - 3) < 0.03) return 'sum';
    if (Math.abs(ratio - 1) < 0.03) return 'mean';
    throw new TurnwiseError('tinker-scale-unknown', {
      what: 'It cannot be found out how the Tinker server scales its losses',
      seen: `gradient norms ${single ?? 'unknown'} for one datum and ${triple ?? 'unknown'} for it and its double`,
      allowed: 'a ratio of 3 (sum) or 1 (mean)',
      next: 'Say which it is with lossScale (--set tinker.lossScale=sum or =mean)',
    });
  } finally {
    await model.unloaded();
  }
}

/** What servers call the gradient norm differs; undefined where this one does not tell. */
export function gradientNorm(metrics: Readonly<Record<string, number>>): number | undefined {
  const name = Object.keys(metrics).find((key) => /(^|[./_])grad(ient)?_norm(:|$)/.test(key));
  return name === undefined ? undefined : metrics[name]!;
}

function probe(weight: number): Datum {
  return {
    tokens: Int32Array.of(1, 2, 3, 4),
    inputs: {
      target_tokens: Int32Array.of(2, 3, 4, 5),
      weights: new Float32Array(4).fill(weight),
    },
  };
}
