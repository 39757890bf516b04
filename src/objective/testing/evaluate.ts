/** Runs an objective on numbers, through the ONNX model it is written as. For tests only. */

import { gradients } from '../../graph/gradient.ts';
import { Graph } from '../../graph/graph.ts';
import { toOnnx } from '../../graph/onnx.ts';
import { gatherLogSoftmax } from '../../graph/operators/gather.ts';
import { createSession, type Feed } from '../../graph/session.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { Objective, TokenTensors } from '../objective.ts';

export interface Evaluation {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** By what the loss was differentiated by: `logprobs`, `entropies`, `values`, or `logits`. */
  readonly gradients: Readonly<Record<string, readonly number[]>>;
}

/** One row of T tokens: numbers for log-probabilities, weight and channels by name, and what the objective needs. */
export type TokenNumbers = Readonly<Record<string, readonly number[]>>;

const differentiable = ['logprobs', 'entropies', 'values'];

/** Loss, metrics and gradients; everything in `numbers` is fed as [1, T]. `weight` is 1 everywhere unless given. */
export async function evaluate(objective: Objective, numbers: TokenNumbers): Promise<Evaluation> {
  const graph = new Graph();
  const length = Object.values(numbers)[0]!.length;
  const all: TokenNumbers = { weight: new Array<number>(length).fill(1), ...numbers };
  const named = (name: string): Tensor =>
    differentiable.includes(name) ? graph.parameter(name, [1, length]) : graph.input(name, [1, length]);
  const tokens: TokenTensors = {
    logprobs: named('logprobs'),
    weight: named('weight'),
    channel: named,
    entropies: () => named('entropies'),
    values: () => named('values'),
    valueLogits: () => named('valueLogits'),
  };
  const wrt = differentiable.filter((name) => name in all).map((name) => [name, named(name)] as const);
  const feeds = Object.fromEntries(
    Object.entries(all).map(([name, data]) => [name, { data: Float32Array.from(data), shape: [1, length] }]),
  );
  return run(objective, tokens, wrt, feeds);
}

/** The same with log-probabilities of `ids` under a policy whose parameters are its logits, [1, T, 3]. */
export async function evaluateToyPolicy(
  objective: Objective,
  logits: readonly number[],
  ids: readonly number[],
  channels: TokenNumbers,
): Promise<Evaluation> {
  const graph = new Graph();
  const length = ids.length;
  const parameter = graph.parameter('logits', [1, length, 3]);
  const input = (name: string): Tensor => graph.input(name, [1, length]);
  const tokens: TokenTensors = {
    logprobs: gatherLogSoftmax(parameter, graph.input('ids', [1, length], 'int64')),
    weight: input('weight'),
    channel: input,
    entropies: () => input('entropies'),
    values: () => input('values'),
    valueLogits: () => input('valueLogits'),
  };
  const feeds: Record<string, Feed> = {
    logits: { data: Float32Array.from(logits), shape: [1, length, 3] },
    ids: { data: BigInt64Array.from(ids, (id) => BigInt(id)), shape: [1, length] },
  };
  for (const [name, data] of Object.entries(channels)) {
    feeds[name] = { data: Float32Array.from(data), shape: [1, length] };
  }
  return run(objective, tokens, [['logits', parameter]], feeds);
}

async function run(
  objective: Objective,
  tokens: TokenTensors,
  wrt: readonly (readonly [string, Tensor])[],
  feeds: Readonly<Record<string, Feed>>,
): Promise<Evaluation> {
  const { loss, metrics } = objective.build(tokens);
  const found = gradients(
    loss,
    wrt.map(([, tensor]) => tensor),
  );
  const outputs: Record<string, Tensor> = { loss, ...metrics };
  for (const [index, [name]] of wrt.entries()) outputs[`gradient ${name}`] = found[index]!;
  const session = await createSession(toOnnx(outputs), { threads: 1 });
  const results = await session.run(
    Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]!])),
  );
  await session.close();
  return {
    loss: results.loss![0]!,
    metrics: Object.fromEntries(Object.keys(metrics).map((name) => [name, results[name]![0]!])),
    gradients: Object.fromEntries(wrt.map(([name]) => [name, [...results[`gradient ${name}`]!]])),
  };
}
