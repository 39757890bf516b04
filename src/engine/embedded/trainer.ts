/** Weights, accumulated gradients and optimizer state, and the sessions that compute with them. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Feed, GraphSession } from '../../graph/session.ts';
import type { DecoderShape } from '../../model/decoder.ts';
import { causalMask } from '../../model/forward.ts';
import type { LoraShape } from '../../model/lora.ts';
import type { Weight, Weights } from '../../model/safetensors.ts';
import type { AdamOptions, ForwardBackwardResult, OptimStepResult } from '../engine.ts';
import { Adam } from './adam.ts';
import type { BaseModel } from './base-model.ts';
import { type MicroBatch, microBatches, offsetsOf, type PackedBatch } from './packed-batch.ts';
import { buildScoreProgram, type ScoreOptions, type TrainingProgram } from './training-graph.ts';

/** Per-token results by name, laid end to end like the batch they belong to; heads are named `head.NAME`. */
export type PackedScores = Readonly<Record<string, Float32Array>>;

export interface TrainerOptions {
  /** Holds the sessions and, under LoRA, the weights that are not trained. */
  readonly base: BaseModel;
  readonly lora?: LoraShape | undefined;
  /** Most padded tokens of a micro-batch. */
  readonly tokenBudget: number;
}

export class Trainer {
  readonly weights: Map<string, Weight>;
  readonly adam: Adam;
  frozen: Weights | undefined;
  readonly #shape: DecoderShape;
  readonly #options: TrainerOptions;
  /** What sets sessions of this trainer apart from those of others over the same base. */
  readonly #kind: string;
  /** Empty after a step: the first gradients to come are kept as they are, which spares three passes over memory. */
  readonly #gradients = new Map<string, Float32Array>();
  /** Arrays of earlier gradients, for the runtime to write the next into: new ones would cost a copy and fresh memory. */
  readonly #spare = new Map<string, Float32Array[]>();
  readonly #programs = new Map<string, { session: GraphSession; metrics: readonly string[] }>();
  readonly #causalMasks = new Map<number, Feed>();

  constructor(shape: DecoderShape, weights: Map<string, Weight>, options: TrainerOptions) {
    this.#shape = shape;
    this.#options = options;
    this.#kind = JSON.stringify([options.lora ?? null, shape.valueHead ?? false, shape.extraHeads ?? {}]);
    this.weights = weights;
    this.adam = new Adam(weights);
  }

  async addProgram({ key, bytes, metrics }: TrainingProgram): Promise<void> {
    if (this.#programs.has(key)) return;
    const session = await this.#options.base.session(`train ${this.#kind} ${key}`, () => bytes);
    this.#programs.set(key, { session, metrics });
  }

  /** Adds the gradients of the program's loss over the batch; on an error none of them. */
  async forwardBackward(batch: PackedBatch, key: string): Promise<ForwardBackwardResult> {
    const { session, metrics } = this.#programs.get(key)!;
    const totals = Object.fromEntries(metrics.map((name) => [name, 0]));
    const sums = new Map<string, Float32Array>();
    let loss = 0;
    let paddedTokens = 0;
    for (const micro of microBatches(batch, this.#options.tokenBudget)) {
      const feeds = this.#feeds(session, micro, this.weights);
      const results = await session.run(feeds, session.outputNames, this.#takeSpare(session));
      const microLoss = results.loss![0]!;
      if (!Number.isFinite(microLoss)) throw nonFiniteLoss(microLoss, key, micro);
      loss += microLoss;
      for (const name of metrics) totals[name]! += results[`metric.${name}`]![0]!;
      for (const [output, values] of Object.entries(results)) {
        const [, kind, name] = /^(gradient|rows)\.(.*)$/.exec(output) ?? [];
        if (kind === 'gradient') this.#addInto(sums, name!, values);
        else if (kind === 'rows') this.#addRows(sums, name!, micro.inputs, values);
      }
      paddedTokens += micro.rows.length * micro.length;
    }
    for (const [name, gradient] of sums) this.#addInto(this.#gradients, name, gradient);
    const tokens = batch.lengths_B.reduce((total, length) => total + length - 1, 0);
    return { loss, metrics: totals, tokens, paddedTokens };
  }

  optimStep(options: AdamOptions): OptimStepResult {
    for (const [name, { data }] of this.weights) {
      if (this.#gradients.has(name)) continue;
      this.#gradients.set(name, this.#spare.get(name)?.pop()?.fill(0) ?? new Float32Array(data.length));
    }
    const result = this.adam.apply(this.weights, this.#gradients, options);
    this.clearGradients();
    return result;
  }

  clearGradients(): void {
    for (const [name, gradient] of this.#gradients) this.#giveBack(name, gradient);
    this.#gradients.clear();
  }

  #takeSpare(session: GraphSession): Record<string, Feed> {
    const places: Record<string, Feed> = {};
    for (const output of session.outputNames) {
      const name = output.startsWith('gradient.') ? output.slice('gradient.'.length) : '';
      const data = this.#spare.get(name)?.pop();
      if (data) places[output] = { data, shape: this.weights.get(name)!.shape };
    }
    return places;
  }

  #giveBack(name: string, gradient: Float32Array): void {
    const spare = this.#spare.get(name) ?? [];
    this.#spare.set(name, spare);
    spare.push(gradient);
  }

  #addInto(sums: Map<string, Float32Array>, name: string, values: Float32Array): void {
    const sum = sums.get(name);
    if (sum === undefined) {
      sums.set(name, values);
      return;
    }
    for (let i = 0; i < sum.length; i++) sum[i]! += values[i]!;
    this.#giveBack(name, values);
  }

  /** Adds row i of `rows` to that row of the gradient which the i-th id names: the gradient of a lookup. */
  #addRows(sums: Map<string, Float32Array>, name: string, ids: BigInt64Array, rows: Float32Array): void {
    const { shape, data } = this.weights.get(name)!;
    const sum = sums.get(name) ?? this.#spare.get(name)?.pop()?.fill(0) ?? new Float32Array(data.length);
    sums.set(name, sum);
    const width = shape[1]!;
    for (const [index, id] of ids.entries()) {
      const to = Number(id) * width;
      const from = index * width;
      for (let i = 0; i < width; i++) sum[to + i]! += rows[from + i]!;
    }
  }

  freeze(rate: number): void {
    if (rate === 1 || this.frozen === undefined) {
      this.frozen = copyWeights(this.weights);
      return;
    }
    for (const [name, { data }] of this.frozen) {
      const present = this.weights.get(name)!.data;
      for (let i = 0; i < data.length; i++) data[i]! += rate * (present[i]! - data[i]!);
    }
  }

  async score(
    batch: PackedBatch,
    options: ScoreOptions & { readonly frozen?: boolean },
  ): Promise<PackedScores> {
    const { lora } = this.#options;
    // Before `freeze`, the reference under LoRA is the base itself.
    const withoutAdapter = options.frozen === true && this.frozen === undefined && lora !== undefined;
    const weights = options.frozen ? (this.frozen ?? (lora && this.weights)) : this.weights;
    if (weights === undefined) {
      throw new TurnwiseError('engine-not-frozen', {
        what: 'There is no reference policy to score with',
        next: 'Call freeze() once before scoring with `frozen`',
      });
    }
    const session = await this.#scorer(options, withoutAdapter ? undefined : lora);
    const offsets = offsetsOf(batch);
    const scores = Object.fromEntries(
      session.outputNames.map((name) => [name, new Float32Array(batch.ids.length)]),
    );
    for (const micro of microBatches(batch, this.#options.tokenBudget)) {
      const results = await session.run(this.#feeds(session, micro, weights));
      for (const [name, values] of Object.entries(results)) {
        for (const [index, row] of micro.rows.entries()) {
          const count = batch.lengths_B[row]! - 1;
          scores[name]!.set(
            values.subarray(index * micro.length, index * micro.length + count),
            offsets[row]! + 1,
          );
        }
      }
    }
    return scores;
  }

  #scorer(options: ScoreOptions, lora: LoraShape | undefined): Promise<GraphSession> {
    const { temperature, entropies = false, values = false, heads = [] } = options;
    const asked = [temperature, entropies, values, heads, lora === undefined];
    const key = `score ${this.#kind} ${JSON.stringify(asked)}`;
    return this.#options.base.session(key, () => buildScoreProgram(this.#shape, options, lora));
  }

  #feeds(session: GraphSession, micro: MicroBatch, weights: Weights): Record<string, Feed> {
    const shape = [micro.rows.length, micro.length];
    const feeds: Record<string, Feed> = {};
    for (const name of session.inputNames) {
      const weight = weights.get(name) ?? this.#options.base.weights.get(name);
      if (weight !== undefined) feeds[name] = weight;
      else if (name === 'ids') feeds[name] = { data: micro.inputs, shape };
      else if (name === 'targets') feeds[name] = { data: micro.targets, shape };
      else if (name === 'causalMask') feeds[name] = this.#causalMask(micro.length);
      else feeds[name] = { data: micro.channels[name.slice('channel.'.length)]!, shape };
    }
    return feeds;
  }

  #causalMask(length: number): Feed {
    const mask = this.#causalMasks.get(length) ?? causalMask(length);
    this.#causalMasks.set(length, mask);
    return mask;
  }
}

export function copyWeights(weights: Weights): Map<string, Weight> {
  return new Map([...weights].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]));
}

function nonFiniteLoss(loss: number, key: string, micro: MicroBatch): TurnwiseError {
  const rows = micro.rows.length > 8 ? `${micro.rows.slice(0, 8).join(', ')}, …` : micro.rows.join(', ');
  return new TurnwiseError('non-finite-loss', {
    what: `The loss of objective ${key} is not finite`,
    seen: `${loss} in the micro-batch of rows ${rows} of the batch`,
    next: 'Check the advantages and log-probabilities of these rows; lower the learning rate or the clipping norm',
    fields: { rows, length: micro.length },
  });
}
