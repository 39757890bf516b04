/** The engine's state and verbs, as they run inside the worker thread (or in the same thread, for tests). */

import { Rng } from '../../core/rng.ts';
import { type DecoderShape, initialWeights, parameterShapes } from '../../model/decoder.ts';
import type {
  AdamOptions,
  ForwardBackwardResult,
  OptimStepResult,
  SampleRequest,
  SampleResult,
} from '../engine.ts';
import { createAdamState } from './adam.ts';
import { CachedDecoder } from './cached-decoder.ts';
import { loadCheckpoint, saveCheckpoint } from './checkpoint.ts';
import type { PackedBatch } from './packed-batch.ts';
import { Sampler, type SamplerStatistics } from './sampler.ts';
import { type PackedScores, Trainer } from './trainer.ts';
import type { ScoreOptions, TrainingProgram } from './training-graph.ts';

export interface EngineSettings {
  readonly shape: DecoderShape;
  readonly seed: number | string;
  readonly threads: number;
  /** Most padded tokens of a training micro-batch. */
  readonly tokenBudget: number;
  /** Conversations whose caches are kept. */
  readonly slots: number;
}

export class EngineCore {
  readonly #trainer: Trainer;
  readonly #sampler: Sampler;
  readonly #decoder: CachedDecoder;
  #version = 0;
  /** Verbs that touch the weights run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(settings: EngineSettings, trainer: Trainer, decoder: CachedDecoder) {
    this.#trainer = trainer;
    this.#decoder = decoder;
    this.#sampler = new Sampler(decoder, {
      slots: settings.slots,
      contextLength: settings.shape.contextLength,
      chunkTokens: 64,
      callTokens: 2048,
    });
  }

  static async create(settings: EngineSettings): Promise<EngineCore> {
    const { shape, seed, threads } = settings;
    const values = initialWeights(shape, Rng.of(seed, 'weights'));
    const weights = new Map(
      parameterShapes(shape).map(({ name, shape: sizes }) => [
        name,
        { shape: sizes, data: values.get(name)! },
      ]),
    );
    const trainer = new Trainer(shape, weights, settings);
    return new EngineCore(settings, trainer, await CachedDecoder.create(shape, weights, threads));
  }

  sample(requests: readonly SampleRequest[]): Promise<SampleResult[]> {
    return this.#sampler.sample(requests);
  }

  release(conversations: readonly string[]): void {
    this.#sampler.release(conversations);
  }

  score(batch: PackedBatch, options: ScoreOptions & { readonly frozen?: boolean }): Promise<PackedScores> {
    return this.#inTurn(() => this.#trainer.score(batch, options));
  }

  addProgram(program: TrainingProgram): Promise<void> {
    return this.#inTurn(() => this.#trainer.addProgram(program));
  }

  forwardBackward(batch: PackedBatch, key: string): Promise<ForwardBackwardResult> {
    return this.#inTurn(() => this.#trainer.forwardBackward(batch, key));
  }

  optimStep(options: AdamOptions): Promise<OptimStepResult> {
    return this.#inTurn(() => this.#trainer.optimStep(options));
  }

  publish(): Promise<number> {
    return this.#betweenSamples(async () => {
      await this.#decoder.setWeights(this.#trainer.weights);
      return ++this.#version;
    });
  }

  freeze(): Promise<void> {
    return this.#inTurn(() => this.#trainer.freeze());
  }

  save(folder: string): Promise<void> {
    return this.#inTurn(() => {
      const { weights, adam, frozen } = this.#trainer;
      return saveCheckpoint(folder, { weights, adam, frozen, version: this.#version });
    });
  }

  /** Returns the version that the checkpoint had; its weights are published under it. */
  load(folder: string, optimizer: boolean): Promise<number> {
    return this.#betweenSamples(async () => {
      const trainer = this.#trainer;
      const { weights, adam, frozen, version } = await loadCheckpoint(folder, trainer.weights);
      for (const [name, { data }] of weights) trainer.weights.get(name)!.data.set(data);
      trainer.adam = optimizer ? adam : createAdamState(trainer.weights);
      trainer.frozen = frozen;
      trainer.clearGradients();
      await this.#decoder.setWeights(trainer.weights);
      this.#version = version;
      return version;
    });
  }

  statistics(): SamplerStatistics & { readonly conversations: number; readonly cacheBytes: number } {
    return {
      ...this.#sampler.statistics,
      conversations: this.#sampler.conversations,
      cacheBytes: this.#decoder.cacheBytes,
    };
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#trainer.close();
      await this.#decoder.close();
    });
  }

  /** Samples asked for before finish first, samples asked for from now on come after. */
  #betweenSamples<T>(work: () => Promise<T>): Promise<T> {
    const idle = this.#sampler.pause();
    return this.#inTurn(async () => {
      try {
        await idle;
        return await work();
      } finally {
        this.#sampler.resume();
      }
    });
  }

  #inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
