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
import type { Objective, TokenTargets, TokenTensors } from './objective.ts';
import { segmentsOf, turnsOf } from './target-channels.ts';

/** N targets, the tokens that they are, and their log-probabilities. */
export interface TargetsAtLogprobs extends TokenTargets {
  readonly ids_N: Int32Array;
  readonly logprobs_N: Float32Array;
}

export interface ObjectiveAtLogprobs {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** dC/dlog π of each target. */
  readonly gradients_N: Float32Array;
}

/** Keeps one compiled graph for each objective. */
export class LogprobEvaluator {
  readonly #sessions = new Map<string, Promise<LoadedGraph>>();

  /** @throws TurnwiseError `engine-unsupported` where the objective needs more than log-probabilities, `non-finite-loss` */
  async evaluate(objective: Objective, targets: TargetsAtLogprobs): Promise<ObjectiveAtLogprobs> {
    const session = await this.#session(objective.key, (tokens) => {
      const { loss, metrics } = objective.build(tokens);
      const outputs: Record<string, Tensor> = {
        loss,
        'gradient.logprobs': gradients(loss, [tokens.logprobs])[0]!,
      };
      for (const [name, metric] of Object.entries(metrics)) outputs[`metric.${name}`] = metric;
      return outputs;
    });
    const results = await session.run(feedsOf(session, targets));
    const loss = results.loss![0]!;
    if (!Number.isFinite(loss)) {
      throw new TurnwiseError('non-finite-loss', {
        what: `The loss of objective ${objective.key} is not finite`,
        seen: `${loss} over ${targets.row_N.length} targets`,
        next: 'Check the advantages and log-probabilities of these rows; lower the learning rate or the clipping norm',
      });
    }
    const metrics = Object.entries(results)
      .filter(([name]) => name.startsWith('metric.'))
      .map(([name, value]) => [name.slice('metric.'.length), value[0]!] as const);
    return {
      loss,
      metrics: Object.fromEntries(metrics),
      gradients_N: results['gradient.logprobs']!,
    };
  }

  /** The loss of every target, without weights. */
  async targetLosses(loss: NamedLoss, targets: TargetsAtLogprobs): Promise<Float32Array> {
    const key = `targets of ${loss.name} ${JSON.stringify(loss.settings)}`;
    const session = await this.#session(key, (tokens) => ({ losses: loss.perToken(tokens) }));
    const { losses } = await session.run(feedsOf(session, targets));
    return losses!;
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
  const input = (name: string): Tensor => graph.input(name, ['N']);
  const weight = input('channel.weight');
  return {
    logprobs: input('logprobs'),
    targets: graph.input('targets', ['N'], 'int64'),
    weight,
    counted: trainedMask({ weight }),
    channel: (name, numbers) =>
      graph.input(`channel.${name}`, numbers === undefined ? ['N'] : ['N', numbers]),
    segments: (level) => graph.input(`segments.${level}`, ['N'], 'int64'),
    logprobsOf: () => unsupported('log-probabilities of other tokens'),
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

function feedsOf(session: LoadedGraph, targets: TargetsAtLogprobs): Record<string, Feed> {
  const { ids_N, logprobs_N, turn_N, channels } = targets;
  const N = logprobs_N.length;
  const feed = (name: string): Feed => {
    if (name === 'logprobs') return { data: logprobs_N, shape: [N] };
    if (name === 'targets') return { data: BigInt64Array.from(ids_N, BigInt), shape: [N] };
    if (name === 'segments.row') return { data: segmentsOf(targets, 'row'), shape: [N] };
    if (name === 'segments.turn') return { data: segmentsOf(targets, 'turn'), shape: [N] };
    const data = channels[name.slice('channel.'.length)] ?? turnsOf(turn_N);
    return { data, shape: data.length === N ? [N] : [N, data.length / N] };
  };
  return Object.fromEntries(session.inputNames.map((name) => [name, feed(name)]));
}
