/**
 * Objectives as functions of log-probabilities alone: value, metrics, and the derivative by each log-probability.
 *
 * With these an engine that only knows losses by name can follow any objective C, by the chain rule: the gradient of C at the
 * weights is Σ (dC/dlog π) · ∇log π, which is that of `importance_sampling` at ratio 1 with advantages -dC/dlog π.
 */

import { TurnwiseError } from '../../core/errors.ts';
import { gradients } from '../../graph/gradient.ts';
import { Graph } from '../../graph/graph.ts';
import { type Feed, type LoadedGraph, loadGraph } from '../../graph/node/loaded-graph.ts';
import { toOnnx } from '../../graph/onnx.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { NamedLoss } from '../named-losses.ts';
import { trainedMask } from '../policy-gradient/surrogate.ts';
import type { Objective, TokenTensors } from './objective.ts';

/** One row: channels aligned with the row's tokens; position 0 carries nothing, since nothing precedes it. */
export interface ChannelRow {
  /** Needed by objectives that look at the tokens themselves. */
  readonly ids_T?: Int32Array;
  readonly channels: Readonly<Record<string, Float32Array>>;
}

export interface ObjectiveAtLogprobs {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** dC/dlog π, aligned like the rows' channels. */
  readonly gradients_B_T: readonly Float32Array[];
}

/** Keeps one compiled graph for each objective. */
export class LogprobEvaluator {
  readonly #sessions = new Map<string, Promise<LoadedGraph>>();

  /** @throws TurnwiseError `engine-unsupported` where the objective needs more than log-probabilities, `non-finite-loss` */
  async evaluate(
    objective: Objective,
    rows: readonly ChannelRow[],
    logprobs_B_T: readonly Float32Array[],
  ): Promise<ObjectiveAtLogprobs> {
    const session = await this.#session(objective.key, (tokens) => {
      const { loss, metrics } = objective.build(tokens);
      const outputs: Record<string, Tensor> = {
        loss,
        'gradient.logprobs': gradients(loss, [tokens.logprobs])[0]!,
      };
      for (const [name, metric] of Object.entries(metrics)) outputs[`metric.${name}`] = metric;
      return outputs;
    });
    const results = await session.run(feedsOf(session, rows, logprobs_B_T));
    const loss = results.loss![0]!;
    if (!Number.isFinite(loss)) {
      throw new TurnwiseError('non-finite-loss', {
        what: `The loss of objective ${objective.key} is not finite`,
        seen: `${loss} over ${rows.length} rows`,
        next: 'Check the advantages and log-probabilities of these rows; lower the learning rate or the clipping norm',
      });
    }
    const metrics = Object.entries(results)
      .filter(([name]) => name.startsWith('metric.'))
      .map(([name, value]) => [name.slice('metric.'.length), value[0]!] as const);
    return {
      loss,
      metrics: Object.fromEntries(metrics),
      gradients_B_T: ragged(results['gradient.logprobs']!, logprobs_B_T),
    };
  }

  /** The loss of every token, without weights. */
  async tokenLosses(
    loss: NamedLoss,
    rows: readonly ChannelRow[],
    logprobs_B_T: readonly Float32Array[],
  ): Promise<Float32Array[]> {
    const key = `tokens of ${loss.name} ${JSON.stringify(loss.settings)}`;
    const session = await this.#session(key, (tokens) => ({ losses: loss.perToken(tokens) }));
    const { losses } = await session.run(feedsOf(session, rows, logprobs_B_T));
    return ragged(losses!, logprobs_B_T);
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of sessions) await (await session).close();
  }

  #session(key: string, build: (tokens: TokenTensors) => Record<string, Tensor>): Promise<LoadedGraph> {
    let session = this.#sessions.get(key);
    if (session === undefined) {
      session = loadGraph(toOnnx(build(tokenInputs())), { threads: 1 });
      this.#sessions.set(key, session);
    }
    return session;
  }
}

function tokenInputs(): TokenTensors {
  const graph = new Graph();
  const input = (name: string): Tensor => graph.input(name, ['B', 'T']);
  const weight = input('channel.weight');
  return {
    logprobs: input('logprobs'),
    targets: graph.input('targets', ['B', 'T'], 'int64'),
    weight,
    counted: trainedMask({ weight }),
    channel: (name) => input(`channel.${name}`),
    entropies: () => unsupported('entropies'),
    values: () => unsupported('values'),
    valueLogits: () => unsupported('values'),
    head: () => unsupported('extra heads'),
  };
}

function unsupported(what: string): never {
  throw new TurnwiseError('engine-unsupported', {
    what: `The objective needs ${what}, and this engine has log-probabilities only`,
    next: 'Use an objective that depends on log-probabilities alone, or the embedded engine',
  });
}

/** Rows padded on the right; padding has weight 0. Position 0 of a row, which has no log-probability, is left out. */
function feedsOf(
  session: LoadedGraph,
  rows: readonly ChannelRow[],
  logprobs_B_T: readonly Float32Array[],
): Record<string, Feed> {
  const length = Math.max(1, ...logprobs_B_T.map((row) => row.length - 1));
  const shape = [rows.length, length];
  const padded = (valuesOf: (row: number) => Float32Array): Feed => {
    const data = new Float32Array(rows.length * length);
    for (const row of rows.keys()) data.set(valuesOf(row).subarray(1), row * length);
    return { data, shape };
  };
  const feed = (name: string): Feed => {
    if (name === 'logprobs') return padded((row) => logprobs_B_T[row]!);
    if (name === 'targets') return { data: paddedTargets(rows, length), shape };
    return padded((row) => rows[row]!.channels[name.slice('channel.'.length)]!);
  };
  return Object.fromEntries(session.inputNames.map((name) => [name, feed(name)]));
}

function paddedTargets(rows: readonly ChannelRow[], length: number): BigInt64Array {
  const targets = new BigInt64Array(rows.length * length);
  for (const [row, { ids_T }] of rows.entries())
    targets.set(Array.from(ids_T!.subarray(1), BigInt), row * length);
  return targets;
}

function ragged(values: Float32Array, like: readonly Float32Array[]): Float32Array[] {
  const length = Math.max(1, ...like.map((row) => row.length - 1));
  return like.map((row, index) => {
    const result = new Float32Array(row.length);
    if (row.length > 1) result.set(values.subarray(index * length, index * length + row.length - 1), 1);
    return result;
  });
}
