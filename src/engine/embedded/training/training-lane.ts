/** Weights, accumulated gradients and optimizer state of one thread: all of an engine's training, or one of several lanes. */

import { TurnwiseError } from '../../../core/errors.ts';
import type { Feed, LoadedGraph } from '../../../graph/node/loaded-graph.ts';
import { copyWeights, type Weights } from '../../../model/checkpoint/safetensors.ts';
import type { DecoderShape } from '../../../model/decoder/decoder.ts';
import type { LoraShape } from '../../../model/decoder/lora.ts';
import type { AdamOptions, ParameterGroup, ScoreRequest } from '../../engine.ts';
import type { BaseModel } from '../weights/base-model.ts';
import { ParameterExchange, type SharedParameters } from '../weights/shared-parameters.ts';
import { Adam, type AdamState } from './adam.ts';
import { MicroFeeds } from './feeds.ts';
import { GradientSums } from './gradient-sums.ts';
import type { MicroBatch } from './micro-batch.ts';
import { isIn } from './parameter-groups.ts';
import { buildScoreProgram, type Layout, type ScoreOptions, type TrainingProgram } from './training-graph.ts';

export interface LossAndMetrics {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** What a checkpoint holds besides the weights; of `adam`, what the lane owns. */
export interface TrainingState {
  readonly adam: AdamState;
  readonly frozen: Weights | undefined;
}

/** A lane in this thread or another. A step is `post`, `collect`, `apply`, `catchUp`, each by all lanes before the next. */
export interface TrainingLane {
  addProgram(program: TrainingProgram): Promise<void>;
  /** Loss, metrics and gradients of the program over the micro-batches; the gradients wait for `settle`. */
  forwardBackward(micros: readonly MicroBatch[], key: string): Promise<LossAndMetrics>;
  /** Adds the gradients that wait to those of the step, or forgets them. */
  settle(keep: boolean): void | Promise<void>;
  clearGradients(): void | Promise<void>;
  /** Leaves gradients to the lanes that apply them. */
  post(): void | Promise<void>;
  /** Adds what others left; returns the sum of squares of the gradients that this lane applies, of the group if one is named. */
  collect(only?: ParameterGroup): number | Promise<number>;
  /** AdamW on the weights that the lane owns, of the group if one is named. */
  apply(options: AdamOptions, gradientNorm: number): void | Promise<void>;
  /** Moments as of an optimizer that has taken no step. */
  restartOptimizer(): void | Promise<void>;
  /** Takes over the weights that others have applied. */
  catchUp(): void | Promise<void>;
  /** Outputs by name of each micro-batch: a number for each of its targets. */
  score(
    micros: readonly MicroBatch[],
    request: ScoreRequest,
    layout: Layout,
  ): Promise<Record<string, Float32Array>[]>;
  freeze(rate: number): void | Promise<void>;
  state(): TrainingState | Promise<TrainingState>;
  /** Goes on from these; of `adam` it takes what it owns, and begins anew where there is none. */
  restore(weights: Weights, adam: AdamState | undefined, frozen: Weights | undefined): void | Promise<void>;
  close(): void | Promise<void>;
}

export interface TrainingLaneOptions {
  /** Holds the sessions and, under LoRA, the weights that are not trained. */
  readonly base: BaseModel;
  readonly lora?: LoraShape | undefined;
  /** What it shares with other lanes, and its number among them; where there are none, it owns all weights. */
  readonly shared?: { readonly parameters: SharedParameters; readonly lane: number };
}

/** A lane in this thread. */
export class LocalTrainingLane implements TrainingLane {
  readonly #weights: Weights;
  /** Those of the weights that this lane applies AdamW to. */
  readonly #owned: Weights;
  readonly #adam: Adam;
  #frozen: Weights | undefined;
  readonly #shape: DecoderShape;
  readonly #base: BaseModel;
  readonly #lora: LoraShape | undefined;
  readonly #exchange: ParameterExchange | undefined;
  /** What sets sessions of this lane apart from those of others over the same base. */
  readonly #kind: string;
  readonly #gradients: GradientSums;
  readonly #programs = new Map<string, { session: LoadedGraph; metrics: readonly string[] }>();
  readonly #micros = new MicroFeeds();
  /** Of the sessions it asked for. */
  readonly #keys = new Set<string>();

  /** The weights are changed in place. */
  constructor(shape: DecoderShape, weights: Weights, { base, lora, shared }: TrainingLaneOptions) {
    this.#shape = shape;
    this.#base = base;
    this.#lora = lora;
    const { valueHead = false, extraHeads = {}, contextLength } = shape;
    this.#kind = JSON.stringify([lora ?? null, valueHead, extraHeads, contextLength]);
    this.#weights = weights;
    this.#exchange = shared && new ParameterExchange(shared.parameters, shared.lane);
    this.#owned = new Map([...weights].filter(([name]) => this.#exchange?.owns(name) ?? true));
    this.#adam = new Adam(this.#owned);
    this.#gradients = new GradientSums(weights);
  }

  async addProgram({ key, bytes, metrics }: TrainingProgram): Promise<void> {
    if (this.#programs.has(key)) return;
    const session = await this.#session(`train ${this.#kind} ${key}`, () => bytes);
    this.#programs.set(key, { session, metrics });
  }

  async forwardBackward(micros: readonly MicroBatch[], key: string): Promise<LossAndMetrics> {
    const { session, metrics: names } = this.#programs.get(key)!;
    const metrics = Object.fromEntries(names.map((name) => [name, 0]));
    let loss = 0;
    for (const micro of micros) {
      // Where nothing is learned there is no gradient.
      if (micro.targets.length === 0) continue;
      const feeds = this.#feeds(session, micro, this.#weights);
      const results = await session.run(
        feeds,
        session.outputNames,
        this.#gradients.places(session.outputNames, micro.shape),
      );
      const microLoss = results.loss![0]!;
      if (!Number.isFinite(microLoss)) throw nonFiniteLoss(microLoss, key, micro);
      loss += microLoss;
      for (const name of names) metrics[name]! += results[`metric.${name}`]![0]!;
      this.#gradients.add(results, micro.inputs);
    }
    return { loss, metrics };
  }

  settle(keep: boolean): void {
    this.#gradients.settle(keep);
  }

  clearGradients(): void {
    this.#gradients.clear();
  }

  post(): void {
    this.#exchange?.post(this.#gradients.sums);
  }

  collect(only?: ParameterGroup): number {
    let squares = 0;
    for (const [name, gradient] of this.#gradients.sums)
      if (this.#owned.has(name) && isIn(only, name))
        squares += this.#adam.gather(gradient, this.#exchange?.posted(name));
    return squares;
  }

  apply(options: AdamOptions, gradientNorm: number): void {
    const moved = new Map([...this.#owned].filter(([name]) => isIn(options.only, name)));
    this.#adam.apply(moved, this.#gradients.sums, options, gradientNorm, this.#exchange?.weights);
    this.#gradients.clear();
  }

  /** What is learned from now on has programs of its own: those of before would hold gigabytes beside them. */
  async restartOptimizer(): Promise<void> {
    this.#adam.reset();
    this.#programs.clear();
    const keys = [...this.#keys];
    this.#keys.clear();
    await this.#base.giveUp(keys);
  }

  catchUp(): void {
    this.#exchange?.catchUp(this.#weights);
  }

  async score(
    micros: readonly MicroBatch[],
    request: ScoreRequest,
    layout: Layout,
  ): Promise<Record<string, Float32Array>[]> {
    const { frozen: isFrozen = false, ...options } = request;
    // Before `freeze`, the reference under LoRA is the base itself.
    const withoutAdapter = isFrozen && this.#frozen === undefined && this.#lora !== undefined;
    const weights = isFrozen ? (this.#frozen ?? (this.#lora && this.#weights)) : this.#weights;
    if (weights === undefined) {
      throw new TurnwiseError('engine-not-frozen', {
        what: 'There is no reference policy to score with',
        next: 'Call freeze() once before scoring with `frozen`',
      });
    }
    const session = await this.#scorer(options, layout, withoutAdapter ? undefined : this.#lora);
    const scores: Record<string, Float32Array>[] = [];
    for (const micro of micros) scores.push(await session.run(this.#feeds(session, micro, weights)));
    return scores;
  }

  freeze(rate: number): void {
    if (rate === 1 || this.#frozen === undefined) {
      this.#frozen = copyWeights(this.#weights);
      return;
    }
    for (const [name, { data }] of this.#frozen) {
      const present = this.#weights.get(name)!.data;
      for (let i = 0; i < data.length; i++) data[i]! += rate * (present[i]! - data[i]!);
    }
  }

  state(): TrainingState {
    const { steps, first, second } = this.#adam;
    return { adam: { steps, first, second }, frozen: this.#frozen };
  }

  restore(weights: Weights, adam: AdamState | undefined, frozen: Weights | undefined): void {
    for (const [name, { data }] of this.#weights) data.set(weights.get(name)!.data);
    if (adam === undefined) this.#adam.reset();
    else this.#adam.restore(adam);
    this.#frozen = frozen && copyWeights(frozen);
    this.#gradients.clear();
  }

  /** The sessions are the base's to release. */
  close(): void {}

  #scorer(options: ScoreOptions, layout: Layout, lora: LoraShape | undefined): Promise<LoadedGraph> {
    const { temperature, entropies = false, values = false, heads = [], top = 0 } = options;
    const { trees, gathered, restricted } = layout;
    const asked = [
      temperature,
      entropies,
      values,
      heads,
      top,
      trees,
      gathered,
      restricted,
      lora === undefined,
    ];
    const key = `score ${this.#kind} ${JSON.stringify(asked)}`;
    return this.#session(key, () => buildScoreProgram(this.#shape, options, layout, lora));
  }

  #session(key: string, bytes: () => Uint8Array): Promise<LoadedGraph> {
    this.#keys.add(key);
    return this.#base.session(key, bytes, { plansMemory: false });
  }

  #feeds(session: LoadedGraph, micro: MicroBatch, weights: Weights): Record<string, Feed> {
    const feeds: Record<string, Feed> = this.#micros.of(session.inputNames, micro, this.#shape.vocabulary);
    for (const name of session.inputNames) {
      const weight = weights.get(name) ?? this.#base.weights.get(name);
      if (weight !== undefined) feeds[name] = weight;
    }
    return feeds;
  }
}

function nonFiniteLoss(loss: number, key: string, micro: MicroBatch): TurnwiseError {
  const rows = micro.rows.length > 8 ? `${micro.rows.slice(0, 8).join(', ')}, …` : micro.rows.join(', ');
  return new TurnwiseError('non-finite-loss', {
    what: `The loss of objective ${key} is not finite`,
    seen: `${loss} in the micro-batch of rows ${rows} of the batch`,
    next: 'Check the advantages and log-probabilities of these rows; lower the learning rate or the clipping norm',
    fields: { rows, length: micro.shape[1] },
  });
}
