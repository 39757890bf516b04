/** The engine's state and verbs, as they run inside the worker thread (or in the same thread, for tests). */

import { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import { type AdapterCheckpoint, readAdapter, writeAdapter } from '../../model/adapter-folder.ts';
import { type ModelCheckpoint, readCheckpoint } from '../../model/checkpoint-folder.ts';
import { type DecoderShape, initialWeights, parameterShapes, valueHeadShapes } from '../../model/decoder.ts';
import { exportCheckpoint } from '../../model/export-checkpoint.ts';
import { initialAdapter, type LoraShape } from '../../model/lora.ts';
import { elementCount, type Weight } from '../../model/safetensors.ts';
import type {
  AdamOptions,
  ForwardBackwardResult,
  OptimStepResult,
  SampleRequest,
  SampleResult,
} from '../engine.ts';
import { BaseModel } from './base-model.ts';
import { CachedDecoder } from './cached-decoder.ts';
import { type AdapterIdentity, loadCheckpoint, saveCheckpoint } from './checkpoint.ts';
import type { PackedBatch } from './packed-batch.ts';
import { Sampler, type SamplerStatistics } from './sampler.ts';
import { type PackedScores, Trainer } from './trainer.ts';
import type { ScoreOptions, TrainingProgram } from './training-graph.ts';

export interface EngineSettings {
  readonly shape: DecoderShape;
  /** Where the first weights come from; random ones named by `seed` when not given. */
  readonly model?: ModelCheckpoint;
  /** Train an adapter instead of the weights. */
  readonly lora?: LoraShape;
  /** Where the adapter's first values come from; new ones named by `seed` when not given. */
  readonly adapter?: AdapterCheckpoint;
  readonly seed: number | string;
  readonly threads: number;
  /** Most padded tokens of a training micro-batch. */
  readonly tokenBudget: number;
  /** Conversations whose caches are kept. */
  readonly slots: number;
}

export class EngineCore {
  readonly #settings: EngineSettings;
  readonly #base: BaseModel;
  readonly #trainer: Trainer;
  readonly #sampler: Sampler;
  readonly #decoder: CachedDecoder;
  #version = 0;
  /** Verbs that touch the weights run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(settings: EngineSettings, base: BaseModel, trainer: Trainer, decoder: CachedDecoder) {
    this.#settings = settings;
    this.#base = base;
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
    const weights = await firstWeights(settings);
    const name = settings.model?.name ?? `random weights, seed ${settings.seed}`;
    const isAdapted = settings.lora !== undefined;
    const base = new BaseModel(isAdapted ? weights : new Map(), name, settings.threads);
    return EngineCore.#over(base, settings, isAdapted ? await firstAdapter(settings) : weights);
  }

  /** Another adapter over the same base: it shares the frozen weights and the sessions that read them. */
  async attach(settings: EngineSettings): Promise<EngineCore> {
    return EngineCore.#over(this.#base, settings, await firstAdapter(settings));
  }

  static async #over(
    base: BaseModel,
    settings: EngineSettings,
    trained: Map<string, Weight>,
  ): Promise<EngineCore> {
    const { shape, lora, threads, tokenBudget } = settings;
    const trainer = new Trainer(shape, trained, { base, lora, tokenBudget });
    const decoder = await CachedDecoder.create({ shape, base, lora, threads }, trained);
    base.retain();
    return new EngineCore(settings, base, trainer, decoder);
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
      const checkpoint = { weights, adam, frozen, version: this.#version };
      return saveCheckpoint(folder, checkpoint, this.#identity());
    });
  }

  /** Returns the version that the checkpoint had; its weights are published under it. */
  load(folder: string, optimizer: boolean): Promise<number> {
    return this.#betweenSamples(async () => {
      const trainer = this.#trainer;
      const { weights, adam, frozen, version } = await loadCheckpoint(
        folder,
        trainer.weights,
        this.#identity(),
      );
      for (const [name, { data }] of weights) trainer.weights.get(name)!.data.set(data);
      if (optimizer) trainer.adam.restore(adam);
      else trainer.adam.reset();
      trainer.frozen = frozen;
      trainer.clearGradients();
      await this.#decoder.setWeights(trainer.weights);
      this.#version = version;
      return version;
    });
  }

  /** Writes the adapter alone, as `peft` has it. */
  exportAdapter(folder: string): Promise<void> {
    return this.#inTurn(() => {
      const { lora } = this.#settings;
      if (lora === undefined) throw unsupported('has no adapter', 'Export the model instead');
      const factors = [...this.#trainer.weights].filter(([name]) => name.includes('.lora_'));
      return writeAdapter(folder, lora, new Map(factors), this.#base.name);
    });
  }

  /** Writes the model, merged with its adapter, as a checkpoint folder. */
  exportModel(folder: string): Promise<void> {
    return this.#inTurn(() => {
      const { model, lora } = this.#settings;
      const { weights } = this.#trainer;
      if (model === undefined)
        throw unsupported('was not made from a checkpoint folder', 'Save it with save() instead');
      if (lora === undefined) return exportCheckpoint(folder, model, weights);
      return exportCheckpoint(folder, model, this.#base.weights, { lora, weights });
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
      await this.#decoder.close();
      await this.#base.release();
    });
  }

  #identity(): AdapterIdentity | undefined {
    const { lora } = this.#settings;
    return lora && { lora, base: this.#base.name, digest: this.#base.digest() };
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

/** Under LoRA those of the base alone; the value head is trained, and is made with the adapter. */
async function firstWeights({ shape, seed, model, lora }: EngineSettings): Promise<Map<string, Weight>> {
  if (model !== undefined) {
    const weights = await readCheckpoint(model);
    return lora === undefined ? new Map([...weights, ...zeroValueHead(shape)]) : weights;
  }
  const values = initialWeights(shape, Rng.of(seed, 'weights'));
  return new Map(
    parameterShapes(lora === undefined ? shape : { ...shape, valueHead: false }).map(
      ({ name, shape: sizes }) => [name, { shape: sizes, data: values.get(name)! }],
    ),
  );
}

async function firstAdapter(settings: EngineSettings): Promise<Map<string, Weight>> {
  const { shape, seed, lora, adapter } = settings;
  const factors =
    adapter === undefined
      ? initialAdapter(shape, lora!, Rng.of(seed, 'adapter'))
      : await readAdapter(adapter, shape);
  return new Map([...factors, ...zeroValueHead(shape)]);
}

function zeroValueHead(shape: DecoderShape): [string, Weight][] {
  return valueHeadShapes(shape).map(({ name, shape: sizes }) => [
    name,
    { shape: sizes, data: new Float32Array(elementCount(sizes)) },
  ]);
}

function unsupported(what: string, next: string): TurnwiseError {
  return new TurnwiseError('engine-unsupported', { what: `The engine ${what}`, next });
}
