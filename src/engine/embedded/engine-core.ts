/** The engine's state and verbs, as they run inside the worker thread (or in the same thread, for tests). */

import type { TokenTexts } from '../../core/constraint.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import { readAdapter, writeAdapter } from '../../model/checkpoint/adapter-folder.ts';
import { readCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import { exportCheckpoint } from '../../model/checkpoint/export-checkpoint.ts';
import { copyWeights, type Weight, type Weights } from '../../model/checkpoint/safetensors.ts';
import {
  type DecoderShape,
  headShapes,
  initialWeights,
  parameterShapes,
} from '../../model/decoder/decoder.ts';
import { initialAdapter } from '../../model/decoder/lora.ts';
import { exportGguf } from '../../model/gguf/export-gguf.ts';
import type { WrittenType } from '../../model/gguf/quantise.ts';
import type {
  AdamOptions,
  ForwardBackwardResult,
  OptimStepResult,
  SampleRequest,
  SampleResult,
  ScoreRequest,
} from '../engine.ts';
import type { EngineSettings } from './engine-settings.ts';
import { createSamplingLanes, createTrainer } from './lanes.ts';
import type { Lane, LaneStatistics } from './sampling/sampling-lane.ts';
import { SamplingLanes } from './sampling/sampling-lanes.ts';
import type { PackedBatch } from './training/packed-batch.ts';
import type { PackedScores, Trainer } from './training/trainer.ts';
import type { Layout, TrainingProgram } from './training/training-graph.ts';
import { BaseModel } from './weights/base-model.ts';
import { type AdapterIdentity, loadCheckpoint, saveCheckpoint } from './weights/checkpoint.ts';

export class EngineCore {
  readonly #settings: EngineSettings;
  readonly #base: BaseModel;
  readonly #trainer: Trainer;
  readonly #sampling: SamplingLanes;
  #version = 0;
  /** Verbs that touch the weights run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(settings: EngineSettings, base: BaseModel, trainer: Trainer, lanes: readonly Lane[]) {
    this.#settings = settings;
    this.#base = base;
    this.#trainer = trainer;
    this.#sampling = new SamplingLanes(lanes);
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
    const trainer = createTrainer(base, settings, trained);
    const lanes = await createSamplingLanes(base, settings, trainer.weights);
    base.retain();
    return new EngineCore(settings, base, trainer, lanes);
  }

  /** @param heard hears each id; absent: that of the request does, where it is in this thread */
  sample(request: SampleRequest, heard?: (id: number) => void): Promise<SampleResult> {
    return this.#sampling.sample(request, heard);
  }

  /** What the tokens write, before anything is held to a form. */
  learnTexts(texts: TokenTexts): Promise<void> {
    return this.#sampling.learnTexts(texts);
  }

  /** Ends the completion of this conversation soon. */
  finish(conversation: string): Promise<void> {
    return this.#sampling.finish(conversation);
  }

  release(conversations: readonly string[]): Promise<void> {
    return this.#sampling.release(conversations);
  }

  score(batch: PackedBatch, options: ScoreRequest, layout: Layout): Promise<PackedScores> {
    return this.#inTurn(() => this.#trainer.score(batch, options, layout));
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

  restartOptimizer(): Promise<void> {
    return this.#inTurn(() => this.#trainer.restartOptimizer());
  }

  publish(): Promise<number> {
    return this.#betweenSamples(async () => {
      await this.#sampling.setWeights(this.#trainer.weights, this.#version + 1);
      return ++this.#version;
    });
  }

  freeze(rate: number): Promise<void> {
    return this.#inTurn(() => this.#trainer.freeze(rate));
  }

  weights(): Promise<Weights> {
    return this.#inTurn(() => copyWeights(this.#trainer.weights));
  }

  adopt(weights: Weights): Promise<void> {
    return this.#inTurn(() => this.#trainer.adopt(weights));
  }

  save(folder: string): Promise<void> {
    return this.#inTurn(async () => {
      const { weights } = this.#trainer;
      const checkpoint = { weights, ...(await this.#trainer.state()), version: this.#version };
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
      await trainer.restore(weights, optimizer ? adam : undefined, frozen);
      await this.#sampling.setWeights(trainer.weights, version);
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
        throw unsupported('was not made from a checkpoint', 'Save it with save() instead');
      if (lora === undefined) return exportCheckpoint(folder, model, weights);
      return exportCheckpoint(folder, model, this.#base.weights, { lora, weights });
    });
  }

  /** Writes the model, merged with its adapter, as a GGUF file. */
  exportGguf(path: string, type: WrittenType): Promise<void> {
    return this.#inTurn(() => {
      const { model, lora } = this.#settings;
      const { weights } = this.#trainer;
      if (model === undefined)
        throw unsupported('was not made from a checkpoint', 'Save it with save() instead');
      if (lora === undefined) return exportGguf(path, model, weights, type);
      return exportGguf(path, model, this.#base.weights, type, { lora, weights });
    });
  }

  statistics(): Promise<LaneStatistics> {
    return this.#sampling.statistics();
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#sampling.close();
      await this.#trainer.close();
      await this.#base.release();
    });
  }

  #identity(): AdapterIdentity | undefined {
    const { lora } = this.#settings;
    return lora && { lora, base: this.#base.name, digest: this.#base.digest() };
  }

  /** Samples asked for before finish first, samples asked for from now on come after. */
  #betweenSamples<T>(work: () => Promise<T>): Promise<T> {
    const idle = this.#sampling.pause();
    return this.#inTurn(async () => {
      try {
        await idle;
        return await work();
      } finally {
        this.#sampling.resume();
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
    return lora === undefined ? new Map([...weights, ...firstHeads(shape, seed)]) : weights;
  }
  const values = initialWeights(shape, Rng.of(seed, 'weights'));
  return new Map(
    parameterShapes(lora === undefined ? shape : { ...shape, valueHead: false, extraHeads: {} }).map(
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
  return new Map([...factors, ...firstHeads(shape, seed)]);
}

function firstHeads(shape: DecoderShape, seed: EngineSettings['seed']): [string, Weight][] {
  const heads = headShapes(shape);
  const values = initialWeights(shape, Rng.of(seed, 'heads'), heads);
  return heads.map(({ name, shape: sizes }) => [name, { shape: sizes, data: values.get(name)! }]);
}

function unsupported(what: string, next: string): TurnwiseError {
  return new TurnwiseError('engine-unsupported', { what: `The engine ${what}`, next });
}
