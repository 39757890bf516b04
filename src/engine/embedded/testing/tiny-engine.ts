/** A model small enough for tests of the engine, and what they share. */

import { afterEach } from 'vitest';
import { Rng } from '../../../core/rng.ts';
import { multiply, negate } from '../../../graph/operators/elementwise.ts';
import { sum } from '../../../graph/operators/reduce.ts';
import type { DecoderShape } from '../../../model/decoder/decoder.ts';
import type { Objective } from '../../../objective/contract/objective.ts';
import type { AdamOptions, SampleRequest, TokenBatch } from '../../engine.ts';
import { batchOf, type TokenRow } from '../../token-batch.ts';
import { createEmbeddedEngine, type EmbeddedEngine, type EmbeddedEngineOptions } from '../embedded-engine.ts';

export const tiny: DecoderShape = {
  vocabulary: 11,
  width: 16,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headWidth: 4,
  hidden: 24,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10000,
  contextLength: 300,
  normEpsilon: 1e-5,
};

export const adam: AdamOptions = {
  learningRate: 0.02,
  beta1: 0.9,
  beta2: 0.98,
  epsilon: 1e-8,
  weightDecay: 0,
  clipNorm: 1,
};

/** Minus the weighted log-probabilities. */
export const likelihood: Objective = {
  key: 'likelihood',
  channels: [],
  needs: {},
  build: ({ logprobs, weight }) => ({
    loss: negate(sum(multiply(logprobs, weight))),
    metrics: { weight: sum(weight) },
  }),
};

const open: EmbeddedEngine[] = [];
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
});

type TinyOptions = Extract<EmbeddedEngineOptions, { shape: unknown }>;

/** An engine that the test's end closes. */
export async function engineOf(options: Partial<TinyOptions> = {}): Promise<EmbeddedEngine> {
  const engine = await createEmbeddedEngine({
    shape: tiny,
    seed: 7,
    threads: 1,
    tokenBudget: 64,
    inProcess: true,
    ...options,
  });
  open.push(engine);
  return engine;
}

/** A request for a whole prompt, with the fields of its sampling beside the others. */
export const request = (
  conversation: string,
  prompt: readonly number[],
  {
    temperature = 1,
    topP = 1,
    topK = 0,
    maxTokens = 4,
    ...more
  }: Partial<SampleRequest & SampleRequest['sampling']> = {},
): SampleRequest => ({
  conversation,
  keep: 0,
  append: Int32Array.from(prompt),
  sampling: { temperature, topP, topK, maxTokens },
  stopIds: [],
  seed: `${conversation}/${prompt.length}`,
  ...more,
});

function randomRow(rng: Rng, length: number): TokenRow {
  return {
    ids_T: Int32Array.from({ length }, () => rng.int(tiny.vocabulary)),
    channels: { weight: new Float32Array(length).fill(1 / 50) },
  };
}

export function randomRows(lengths: readonly number[]): TokenRow[] {
  const rng = Rng.of('batch');
  return lengths.map((length) => randomRow(rng, length));
}

export function randomBatch(lengths: readonly number[]): TokenBatch {
  return batchOf(randomRows(lengths));
}

/** Moves the weights away from their first values, which are too small for attention to matter. */
export async function stir(engine: EmbeddedEngine, steps = 5): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await engine.forwardBackward(randomBatch([12, 7, 9]), likelihood, { temperature: 1 });
    await engine.optimStep({ ...adam, learningRate: 0.1 });
  }
  await engine.publish();
}
