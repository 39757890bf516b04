/** Whether a device computes the gradients of a small model as WebAssembly does: asked before anything is trained on it. */

import { Rng } from '../core/rng.ts';
import { batchOf } from '../engine/token-batch.ts';
import { type Provider, useRuntime, type WebRuntime } from '../graph/browser/loaded-graph.ts';
import type { DecoderShape } from '../model/decoder/decoder.ts';
import { crossEntropy } from '../objective/imitation/cross-entropy.ts';
import { createBrowserEngine } from './engine.ts';
import { ensureImmediate } from './immediate.ts';

const shape: DecoderShape = {
  vocabulary: 40,
  width: 32,
  layers: 2,
  heads: 2,
  keyValueHeads: 2,
  headWidth: 16,
  hidden: 64,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10_000,
  contextLength: 64,
  normEpsilon: 1e-5,
};

/** As a share of the largest gradient of a parameter. Sums in another order differ by some 1e-6. */
const tolerance = 1e-3;

export interface GradientCheck {
  readonly agree: boolean;
  /** The largest difference, as a share of the largest gradient of its parameter. */
  readonly largest: number;
  /** Where it is. */
  readonly parameter: string;
}

/**
 * Compares the gradients of all parameters of a small model, over one batch, on WebGPU and on WebAssembly of one runtime.
 *
 * @example
 * import * as runtime from 'onnxruntime-web/webgpu';
 * const { agree } = await gradientsAgree(runtime);
 * trainInBrowser({ runtime, provider: agree ? 'webgpu' : 'wasm', world });
 */
export async function gradientsAgree(runtime: WebRuntime): Promise<GradientCheck> {
  ensureImmediate();
  const expected = await gradientOn(runtime, 'wasm');
  const seen = await gradientOn(runtime, 'webgpu');
  let [largest, parameter] = [0, ''];
  for (const [name, values] of expected) {
    const other = seen.get(name)!;
    const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12);
    for (const [index, value] of values.entries()) {
      const difference = Math.abs(value - other[index]!) / size;
      if (difference <= largest) continue;
      [largest, parameter] = [Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference, name];
    }
  }
  return { agree: largest <= tolerance, largest, parameter };
}

/** The first moments after a step that moves nothing are a tenth of the gradient. */
async function gradientOn(
  runtime: WebRuntime,
  provider: Provider,
): Promise<ReadonlyMap<string, Float32Array>> {
  useRuntime(runtime, provider);
  const { engine, checkpoint } = await createBrowserEngine({ shape, seed: 1, tokenBudget: 512, slots: 4 });
  try {
    const rng = Rng.of('gradient check');
    const rows = [24, 17, 24, 9].map((length) => ({
      ids_T: Int32Array.from({ length }, () => rng.int(shape.vocabulary)),
      channels: { weight: new Float32Array(length).fill(1 / length) },
    }));
    await engine.forwardBackward(batchOf(rows), crossEntropy(), { temperature: 1 });
    await engine.optimStep({
      ...{ learningRate: 0, beta1: 0.9, beta2: 0.99, epsilon: 1e-8 },
      ...{ weightDecay: 0, clipNorm: 0 },
    });
    const { adam } = await checkpoint();
    return new Map([...adam.first].map(([name, values]) => [name, values.slice()]));
  } finally {
    await engine.close();
  }
}
