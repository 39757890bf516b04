/** The engine that needs nothing but this process: onnxruntime in a worker thread, driven by graphs written here. */

import type { TokenTexts } from '../../core/constraint.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Weights } from '../../model/checkpoint/safetensors.ts';
import { type DecoderShape, parameterShapes } from '../../model/decoder/decoder.ts';
import type { LoraShape } from '../../model/decoder/lora.ts';
import type { WrittenType } from '../../model/gguf/quantise.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { checkSampleRequest } from '../checks.ts';
import type {
  AdamOptions,
  Engine,
  EngineAbilities,
  EngineCapabilities,
  ForwardBackwardResult,
  OptimStepResult,
  SampleRequest,
  SampleResult,
  ScoredRows,
  ScoreRequest,
  TokenBatch,
  TokenScores,
} from '../engine.ts';
import { type EngineHost, startInProcess, startWorker } from './engine-host.ts';
import {
  type AttachOptions,
  attachedSettings,
  type EmbeddedEngineOptions,
  settingsOf,
} from './engine-options.ts';
import type { EngineSettings } from './engine-settings.ts';
import { scoresByRow } from './token-scores.ts';
import { buffersOf, type PackedBatch, packAllTokens, packBatch } from './training/packed-batch.ts';
import { paysToShare } from './training/sharing.ts';
import { buildTrainingProgram, layoutOf, programKey } from './training/training-graph.ts';

export type { AdapterOptions, AttachOptions, EmbeddedEngineOptions } from './engine-options.ts';

/** What every embedded engine is able to do; a value head is there where the shape has one. */
export const embeddedAbilities: EngineAbilities = {
  valueHead: true,
  entropies: true,
  temperatures: true,
  customObjectives: true,
  choices: true,
  schemas: true,
};

/** What the sampler has done so far. */
export interface EmbeddedEngineStatistics {
  readonly forwardTokens: number;
  readonly paddedTokens: number;
  readonly calls: number;
  readonly conversations: number;
  readonly cacheBytes: number;
}

/**
 * Creates an engine with the weights of a checkpoint, or random ones named by `seed`, published as version 0.
 * Everything is computed in 32-bit floats; the same calls give the same bits on the same machine and thread count.
 */
export async function createEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const settings = await settingsOf(options);
  const isSource = import.meta.url.endsWith('.ts');
  const host =
    options.inProcess || isSource
      ? await startInProcess(settings)
      : await startWorker(new URL('./worker.js', import.meta.url), settings);
  return new EmbeddedEngine(settings, host);
}

/** Use `createEmbeddedEngine`. */
export class EmbeddedEngine implements Engine {
  readonly capabilities: EngineCapabilities;
  readonly #settings: EngineSettings;
  readonly #host: EngineHost;
  readonly #programs = new Set<string>();
  /** What its thread knows of the tokens. */
  #texts: TokenTexts | undefined;
  #version = 0;

  constructor(settings: EngineSettings, host: EngineHost) {
    this.#settings = settings;
    this.#host = host;
    this.capabilities = {
      vocabulary: settings.shape.vocabulary,
      contextLength: settings.shape.contextLength,
      ...embeddedAbilities,
      valueHead: Boolean(settings.shape.valueHead),
      deterministic: true,
    };
  }

  get version(): number {
    return this.#version;
  }

  /** The architecture, with the value head. */
  get shape(): DecoderShape {
    return this.#settings.shape;
  }

  /** The adapter that is trained, or undefined where all weights are. */
  get lora(): LoraShape | undefined {
    return this.#settings.lora;
  }

  /** Number of weights, an adapter's not among them. */
  get parameters(): number {
    return parameterShapes(this.#settings.shape).reduce(
      (total, { shape }) => total + shape.reduce((product, size) => product * size, 1),
      0,
    );
  }

  async sample({ heard, constraint, ...rest }: SampleRequest): Promise<SampleResult> {
    const request = constraint ? { ...rest, constraint } : rest;
    checkSampleRequest(request, this.#settings.shape);
    if (constraint && constraint.texts !== this.#texts) {
      this.#texts = constraint.texts;
      await this.#host.call('learnTexts', [constraint.texts]);
    }
    // Texts are many, and its thread has them.
    const sent = constraint ? { ...rest, constraint: { ...constraint, texts: noTexts } } : rest;
    if (heard === undefined) return this.#host.call('sample', [sent]);
    let isEnough = false;
    return this.#host.call('sample', [sent], [], (id) => {
      if (isEnough || heard(id as number)) return;
      isEnough = true;
      this.#host.call('finish', [rest.conversation]).catch(() => undefined);
    });
  }

  release(conversations: readonly string[]): void {
    // Of an engine that failed or was closed nothing is left to forget.
    this.#host.call('release', [conversations]).catch(() => undefined);
  }

  async score(batch: ScoredRows, asked: ScoreRequest): Promise<TokenScores> {
    const { shape, lora } = this.#settings;
    const top = Math.min(asked.top ?? 0, shape.vocabulary);
    const options = { ...asked, ...(top > 0 && { top }) };
    const packed = this.#shared(packAllTokens(batch, shape));
    const scores = await this.#host.call(
      'score',
      [packed, options, layoutOf(packed, lora)],
      buffersOf(packed),
    );
    return scoresByRow(batch, options, scores);
  }

  async forwardBackward(
    batch: TokenBatch,
    objective: Objective,
    options: { temperature: number },
  ): Promise<ForwardBackwardResult> {
    const { shape, lora } = this.#settings;
    const packed = this.#shared(packBatch(batch, ['weight', ...objective.channels], shape));
    const layout = layoutOf(packed, lora);
    const key = programKey(objective, options.temperature, layout);
    if (!this.#programs.has(key)) {
      const program = buildTrainingProgram(shape, objective, options.temperature, layout, lora);
      await this.#host.call('addProgram', [program]);
      this.#programs.add(key);
    }
    return this.#host.call('forwardBackward', [packed, key], buffersOf(packed));
  }

  /** The batch with what its rows share computed once, where that is asked for or pays. */
  #shared(packed: PackedBatch): PackedBatch {
    const { shape, lora, sharedPrefixes = 'auto' } = this.#settings;
    const sharing =
      sharedPrefixes === 'auto' ? paysToShare(packed, shape, lora) : sharedPrefixes === 'always';
    return { ...packed, sharing };
  }

  async optimStep(options: AdamOptions): Promise<OptimStepResult> {
    if (options.only === 'value-head' && !this.#settings.shape.valueHead) {
      throw new TurnwiseError('engine-unsupported', {
        what: 'The value head alone cannot move, and the model has none',
        next: 'Create the engine with a value head, or move all parameters',
      });
    }
    return this.#host.call('optimStep', [options]);
  }

  async restartOptimizer(): Promise<void> {
    await this.#host.call('restartOptimizer', []);
    this.#programs.clear();
  }

  async publish(): Promise<number> {
    this.#version = await this.#host.call('publish', []);
    return this.#version;
  }

  async freeze(rate = 1): Promise<void> {
    if (!(rate > 0 && rate <= 1)) {
      throw new TurnwiseError('engine-unsupported', {
        what: 'A frozen copy cannot move by this share towards the present weights',
        seen: String(rate),
        allowed: 'above 0, at most 1',
      });
    }
    await this.#host.call('freeze', [rate]);
  }

  /**
   * A copy of the weights that are trained, by the names that a checkpoint has for them; of an adapter its factors.
   *
   * ```ts
   * await critic.adopt(await policy.weights());
   * ```
   */
  weights(): Promise<Weights> {
    return this.#host.call('weights', []);
  }

  /**
   * Begins anew with those of these weights that the model has in the same shape, to be published: all others stay as they are,
   * the optimizer has taken no step, and a frozen copy is forgotten.
   */
  async adopt(weights: Weights): Promise<void> {
    await this.#host.call('adopt', [weights]);
  }

  async save(folder: string): Promise<void> {
    await this.#host.call('save', [folder]);
  }

  /** Loads weights and optimizer state, and publishes the weights under the version they were saved with. */
  async load(folder: string, options: { readonly optimizer?: boolean } = {}): Promise<void> {
    this.#version = await this.#host.call('load', [folder, options.optimizer ?? true]);
  }

  /** Writes the adapter as a folder that `peft` loads: `adapter_config.json` and `adapter_model.safetensors`. */
  async exportAdapter(folder: string): Promise<void> {
    await this.#host.call('exportAdapter', [folder]);
  }

  /**
   * Writes the model, merged with its adapter where it has one, as a checkpoint folder in 32-bit floats that
   * `transformers` loads. Needs an engine that was made from a checkpoint.
   */
  async exportModel(folder: string): Promise<void> {
    await this.#host.call('exportModel', [folder]);
  }

  /**
   * Writes the model, merged with its adapter where it has one, as a GGUF file with its tokenizer and chat template. Needs an
   * engine that was made from a checkpoint.
   *
   * ```ts
   * await engine.exportGguf('trained.gguf', 'q8_0');
   * ```
   *
   * @param type of the matrices: 'f32', 'f16', or 'q8_0' (8 bits a weight, with a scale for every 32)
   * @throws TurnwiseError `export-unsupported` for a tokenizer or a value that the file cannot hold
   */
  async exportGguf(path: string, type: WrittenType): Promise<void> {
    await this.#host.call('exportGguf', [path, type]);
  }

  /**
   * Another engine with its own adapter, optimizer and caches over the same frozen weights, in the same thread. It is
   * closed by itself; the weights are released when the last one is.
   * @throws TurnwiseError `engine-unsupported` where all weights are trained.
   */
  async attach(options: AttachOptions): Promise<EmbeddedEngine> {
    const { lora: own } = this.#settings;
    const settings = await attachedSettings(this.#settings, options);
    if (own === undefined || settings.lora === undefined)
      throw new TurnwiseError('engine-unsupported', {
        what: 'Engines can share weights only where each trains an adapter',
        seen: own === undefined ? 'an engine that trains all weights' : 'neither lora nor adapter',
        next: 'Create both with lora or adapter',
      });
    return new EmbeddedEngine(settings, await this.#host.attach(settings));
  }

  statistics(): Promise<EmbeddedEngineStatistics> {
    return this.#host.call('statistics', []);
  }

  close(): Promise<void> {
    return this.#host.close();
  }
}

const noTexts: TokenTexts = { texts: [], bytes: 'byte_level' };
