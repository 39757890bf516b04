/** Training throughput of the embedded engine: gradients and AdamW of one batch, as a run asks for them. */

import { Rng } from '../../src/core/rng.ts';
import { createEmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import { batchOf } from '../../src/engine/token-batch.ts';
import type { DecoderShape } from '../../src/model/decoder/decoder.ts';
import { crossEntropy } from '../../src/objective/imitation/cross-entropy.ts';

const warmUpSteps = 3;
const optimizer = {
  learningRate: 3e-4,
  beta1: 0.9,
  beta2: 0.98,
  epsilon: 1e-8,
  weightDecay: 0.01,
  clipNorm: 1,
};

export interface TrainingBench {
  readonly tokensPerSecond: number;
  readonly medianMs: number;
  /** Of the median step: gradients, and AdamW. */
  readonly gradientMs: number;
  readonly optimizerMs: number;
  /** Losses of the first three steps, as a check that something is learned. */
  readonly losses: readonly number[];
}

export interface TrainingWork {
  readonly shape: DecoderShape;
  readonly rows: number;
  readonly tokens: number;
  readonly steps: number;
  readonly threads: number;
}

/** Trains on one random batch and reports the median step. */
export async function benchTraining(work: TrainingWork): Promise<TrainingBench> {
  const { shape, rows: count, tokens, steps, threads } = work;
  const engine = await createEmbeddedEngine({ shape, seed: 'bench', threads, tokenBudget: count * tokens });
  const rng = Rng.of('bench');
  const weight = new Float32Array(tokens + 1).fill(1 / (count * tokens), 1);
  const rows = Array.from({ length: count }, () => ({
    ids_T: Int32Array.from({ length: tokens + 1 }, () => rng.int(shape.vocabulary)),
    channels: { weight },
  }));
  const objective = crossEntropy();
  const timings: { total: number; optimizer: number }[] = [];
  const losses: number[] = [];
  for (let step = 1; step <= warmUpSteps + steps; step++) {
    const start = performance.now();
    const { loss } = await engine.forwardBackward(batchOf(rows), objective, { temperature: 1 });
    const middle = performance.now();
    await engine.optimStep(optimizer);
    const end = performance.now();
    timings.push({ total: end - start, optimizer: end - middle });
    losses.push(loss);
  }
  await engine.close();
  const timed = timings.slice(warmUpSteps).sort((a, b) => a.total - b.total);
  const { total, optimizer: optimizerMs } = timed[Math.floor(timed.length / 2)]!;
  return {
    tokensPerSecond: (count * tokens * 1000) / total,
    medianMs: total,
    gradientMs: total - optimizerMs,
    optimizerMs,
    losses: losses.slice(0, 3),
  };
}
