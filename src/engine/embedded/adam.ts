/** AdamW in place on typed arrays (arXiv 1412.6980, 1711.05101), with clipping of the global gradient norm. */

import type { Weights } from '../../model/safetensors.ts';
import type { AdamOptions, OptimStepResult } from '../engine.ts';

/** Moments of every parameter, and the number of steps applied, which the bias correction needs. */
export interface AdamState {
  step: number;
  readonly first: ReadonlyMap<string, Float32Array>;
  readonly second: ReadonlyMap<string, Float32Array>;
}

export function createAdamState(weights: Weights): AdamState {
  const zeros = (): Map<string, Float32Array> =>
    new Map([...weights].map(([name, { data }]) => [name, new Float32Array(data.length)]));
  return { step: 0, first: zeros(), second: zeros() };
}

/**
 * One step on `gradients`, written into `weights` and `state`. A gradient that is not finite changes nothing.
 * Weight decay is decoupled and touches matrices only, unless `decayAll`.
 */
export function adamStep(
  weights: Weights,
  gradients: ReadonlyMap<string, Float32Array>,
  state: AdamState,
  options: AdamOptions,
): OptimStepResult {
  let squares = 0;
  for (const gradient of gradients.values()) squares += sumOfSquares(gradient);
  const gradientNorm = Math.sqrt(squares);
  if (!Number.isFinite(gradientNorm)) return { gradientNorm, applied: false };

  const { learningRate, beta1, beta2, epsilon, weightDecay, clipNorm } = options;
  const scale = clipNorm > 0 && gradientNorm > clipNorm ? clipNorm / gradientNorm : 1;
  state.step++;
  const stepSize = learningRate / (1 - beta1 ** state.step);
  const secondCorrection = 1 / (1 - beta2 ** state.step);
  for (const [name, { shape, data }] of weights) {
    const gradient = gradients.get(name)!;
    const first = state.first.get(name)!;
    const second = state.second.get(name)!;
    const keep = shape.length >= 2 || options.decayAll ? 1 - learningRate * weightDecay : 1;
    for (let i = 0; i < data.length; i++) {
      const g = gradient[i]! * scale;
      const m = beta1 * first[i]! + (1 - beta1) * g;
      const v = beta2 * second[i]! + (1 - beta2) * g * g;
      first[i] = m;
      second[i] = v;
      data[i] = data[i]! * keep - (stepSize * m) / (Math.sqrt(v * secondCorrection) + epsilon);
    }
  }
  return { gradientNorm, applied: true };
}

/** In four sums side by side, since each addition of a single sum would wait for the one before. */
function sumOfSquares(values: Float32Array): number {
  const whole = values.length - (values.length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < whole; i += 4) {
    a += values[i]! * values[i]!;
    b += values[i + 1]! * values[i + 1]!;
    c += values[i + 2]! * values[i + 2]!;
    d += values[i + 3]! * values[i + 3]!;
  }
  for (let i = whole; i < values.length; i++) a += values[i]! * values[i]!;
  return a + b + c + d;
}
