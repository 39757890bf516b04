/** Training throughput of the embedded engine's graph, with AdamW inside the timed step. */

import { Rng } from '../src/core/rng.ts';
import { Adam } from '../src/engine/embedded/adam.ts';
import { gradients } from '../src/graph/gradient.ts';
import { Graph } from '../src/graph/graph.ts';
import { toOnnx } from '../src/graph/onnx.ts';
import { multiply } from '../src/graph/operators/elementwise.ts';
import { gatherLogSoftmax } from '../src/graph/operators/gather.ts';
import { mean } from '../src/graph/operators/reduce.ts';
import { createSession, type Feed } from '../src/graph/session.ts';
import { type DecoderShape, initialWeights, parameterShapes } from '../src/model/decoder.ts';
import { causalMask, forward } from '../src/model/forward.ts';

const warmUpSteps = 3;
const adamOptions = {
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
  /** Of the median step: the graph, and AdamW. */
  readonly graphMs: number;
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
export async function benchTraining({
  shape: decoder,
  rows,
  tokens,
  steps,
  threads,
}: TrainingWork): Promise<TrainingBench> {
  const parameters = parameterShapes(decoder);
  const graph = new Graph();
  const ids = graph.input('ids', ['B', '2*U'], 'int64');
  const targets = graph.input('targets', ['B', '2*U'], 'int64');
  const { logits } = forward(graph, decoder, { ids, causalMask: graph.input('causalMask', ['U', '2*U']) });
  const loss = multiply(mean(gatherLogSoftmax(logits(), targets)), -1);
  const wrt = gradients(
    loss,
    parameters.map(({ name, shape }) => graph.parameter(name, shape)),
  );
  const outputs = Object.fromEntries(parameters.map(({ name }, index) => [`gradient.${name}`, wrt[index]!]));
  const session = await createSession(toOnnx({ loss, ...outputs }), { threads });

  const rng = Rng.of('bench');
  const initial = initialWeights(decoder, rng);
  const weights = new Map(parameters.map(({ name, shape }) => [name, { shape, data: initial.get(name)! }]));
  const data = BigInt64Array.from({ length: rows * (tokens + 1) }, () => BigInt(rng.int(decoder.vocabulary)));
  const window = (shift: number): BigInt64Array =>
    BigInt64Array.from(
      { length: rows * tokens },
      (_, i) => data[Math.floor(i / tokens) * (tokens + 1) + (i % tokens) + shift]!,
    );
  const feeds: Record<string, Feed> = {
    ids: { data: window(0), shape: [rows, tokens] },
    targets: { data: window(1), shape: [rows, tokens] },
    causalMask: causalMask(tokens),
  };
  for (const [name, weight] of weights) feeds[name] = weight;

  const adam = new Adam(weights);
  const timings: { graph: number; optimizer: number }[] = [];
  const losses: number[] = [];
  for (let step = 1; step <= warmUpSteps + steps; step++) {
    const start = performance.now();
    const results = await session.run(feeds);
    const middle = performance.now();
    const gradientOf = new Map(parameters.map(({ name }) => [name, results[`gradient.${name}`]!]));
    adam.apply(weights, gradientOf, adamOptions);
    timings.push({ graph: middle - start, optimizer: performance.now() - middle });
    losses.push(results.loss![0]!);
  }
  await session.close();
  const timed = timings.slice(warmUpSteps).sort((a, b) => a.graph + a.optimizer - b.graph - b.optimizer);
  const middle = timed[Math.floor(timed.length / 2)]!;
  const medianMs = middle.graph + middle.optimizer;
  return {
    tokensPerSecond: (rows * tokens * 1000) / medianMs,
    medianMs,
    graphMs: middle.graph,
    optimizerMs: middle.optimizer,
    losses: losses.slice(0, 3),
  };
}
