/** The engine that needs nothing but this process: onnxruntime in a worker thread, driven by graphs written here. */

import { isForced } from '../../core/choices.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { openAdapter } from '../../model/checkpoint/adapter-folder.ts';
import type { ModelCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import { type DecoderShape, parameterShapes } from '../../model/decoder/decoder.ts';
import { type LoraOptions, type LoraShape, resolveLora } from '../../model/decoder/lora.ts';
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
import type { EngineSettings } from './engine-settings.ts';
import { buffersOf, type PackedBatch, packAllTokens, packBatch } from './training/packed-batch.ts';
import { paysToShare } from './training/sharing.ts';
import { buildTrainingProgram, layoutOf, programKey } from './training/training-graph.ts';

/** What every engine needs to know, whatever its weights. */
interface CommonOptions {
  /** Names the initial weights that are random. */
  readonly seed: number | string;
  /** Threads in all: within one operator, or in lanes side by side. */
  readonly threads: number;
  /** Most padded tokens of the training micro-batches that are computed at once. */
  readonly tokenBudget: number;
  /** Conversations whose caches are kept between turns; by default what fits in about 1 GiB. */
  readonly slots?: number;
  /**
   * Whether tokens with which several rows of a batch begin are computed once: `auto` where an adapter is trained and the
   * estimate says that it pays (default), `always`, or `never`. Results differ in their last bits.
   */
  readonly sharedPrefixes?: 'auto' | 'always' | 'never';
  /** Compute on the calling thread: for tests, where a worker cannot be started from source. */
  readonly inProcess?: boolean;
}

/** What every embedded engine is able to do; a value head is there where the shape has one. */
export const embeddedAbilities: EngineAbilities = {
  valueHead: true,
  entropies: true,
  temperatures: true,
  customObjectives: true,
  choices: true,
};

/** What is trained: all weights, or an adapter over weights that stay as they are. */
export interface AdapterOptions {
  /** A new adapter. */
  readonly lora?: LoraOptions;
  /** A folder with an adapter as `peft` saves it, to go on with instead of a new one. */
  readonly adapter?: string;
}

/** A model with random weights of this shape, or that of a checkpoint, with a new value head where one is asked for. */
export type EmbeddedEngineOptions = CommonOptions &
  AdapterOptions &
  ({ readonly shape: DecoderShape } | ({ readonly model: ModelCheckpoint } & ModelHeads));

/** What a pretrained model gets beside its output. */
type ModelHeads = Partial<Pick<DecoderShape, 'valueHead' | 'extraHeads' | 'guidance'>>;

/** Another adapter over the base of an engine, with heads of its own. */
export interface AttachOptions extends AdapterOptions, ModelHeads {
  readonly seed: number | string;
  /** Longest sequence, in tokens; by default as long as the other engine's. */
  readonly contextLength?: number;
  readonly slots?: number;
}

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
  const { seed, threads, tokenBudget } = options;
  const shape = 'shape' in options ? options.shape : withHeads(options.model.shape, options);
  const settings: EngineSettings = {
    shape,
    ...('model' in options && { model: options.model }),
    seed,
    ...(await adapterSettings(shape, options)),
    threads,
    tokenBudget,
    slots: options.slots ?? defaultSlots(shape),
    ...(options.sharedPrefixes && { sharedPrefixes: options.sharedPrefixes }),
  };
  const isSource = import.meta.url.endsWith('.ts');
  const host =
    options.inProcess || isSource
      ? await startInProcess(settings)
      : await startWorker(new URL('./worker.js', import.meta.url), settings);
  return new EmbeddedEngine(settings, host);
}

function withHeads(shape: DecoderShape, { valueHead, extraHeads, guidance }: ModelHeads): DecoderShape {
  return {
    ...shape,
    ...(valueHead && { valueHead }),
    ...(extraHeads && { extraHeads }),
    ...(guidance && { guidance }),
  };
}

async function adapterSettings(
  shape: DecoderShape,
  { lora, adapter }: AdapterOptions,
): Promise<Pick<EngineSettings, 'lora' | 'adapter'>> {
  if (adapter !== undefined) {
    const opened = await openAdapter(adapter, shape);
    return { lora: opened.lora, adapter: opened };
  }
  return lora === undefined ? {} : { lora: resolveLora(shape, lora) };
}

/** Use `createEmbeddedEngine`. */
export class EmbeddedEngine implements Engine {
  readonly capabilities: EngineCapabilities;
  readonly #settings: EngineSettings;
  readonly #host: EngineHost;
  readonly #programs = new Set<string>();
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

  async sample(request: SampleRequest): Promise<SampleResult> {
    checkSampleRequest(request, this.#settings.shape);
    return this.#host.call('sample', [request]);
  }

  release(conversations: readonly string[]): void {
    // Of an engine that failed or was closed nothing is left to forget.
    this.#host.call('release', [conversations]).catch(() => undefined);
  }

  async score(batch: ScoredRows, options: ScoreRequest): Promise<TokenScores> {
    const { shape, lora } = this.#settings;
    const packed = this.#shared(packAllTokens(batch, shape));
    const scores = await this.#host.call(
      'score',
      [packed, options, layoutOf(packed, lora)],
      buffersOf(packed),
    );
    let next = 0;
    const firsts = batch.rows.map(({ ids_T }) => {
      next += ids_T.length - 1;
      return next - (ids_T.length - 1);
    });
    const byRow = (values_N: Float32Array): Float32Array[] =>
      batch.rows.map(({ ids_T }, row) => {
        const values_T = new Float32Array(ids_T.length);
        values_T.set(values_N.subarray(firsts[row]!, firsts[row]! + ids_T.length - 1), 1);
        return values_T;
      });
    const unforced = (values_B: Float32Array[]): Float32Array[] => {
      for (const [row, allowed_T] of (batch.allowed_B ?? []).entries())
        for (const [at, allowed] of (allowed_T ?? []).entries())
          if (isForced(allowed)) values_B[row]![at] = 0;
      return values_B;
    };
    return {
      logprobs: unforced(byRow(scores.logprobs!)),
      ...(scores.entropies && { entropies: unforced(byRow(scores.entropies)) }),
      ...(scores.values && { values: byRow(scores.values) }),
      ...(options.heads && {
        heads: Object.fromEntries(options.heads.map((name) => [name, byRow(scores[`head.${name}`]!)])),
      }),
    };
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
    const { lora: own, adapter: _, ...rest } = this.#settings;
    const { valueHead: _value, extraHeads: _extra, guidance: _guidance, ...body } = rest.shape;
    const { contextLength = body.contextLength } = options;
    const shape = withHeads({ ...body, contextLength }, options);
    const adapter = await adapterSettings(shape, options);
    if (own === undefined || adapter.lora === undefined)
      throw new TurnwiseError('engine-unsupported', {
        what: 'Engines can share weights only where each trains an adapter',
        seen: own === undefined ? 'an engine that trains all weights' : 'neither lora nor adapter',
        next: 'Create both with lora or adapter',
      });
    const slots = options.slots ?? defaultSlots(shape);
    const model = rest.model && { ...rest.model, shape: { ...rest.model.shape, contextLength } };
    const settings = { ...rest, ...adapter, ...(model && { model }), shape, seed: options.seed, slots };
    return new EmbeddedEngine(settings, await this.#host.attach(settings));
  }

  statistics(): Promise<EmbeddedEngineStatistics> {
    return this.#host.call('statistics', []);
  }

  close(): Promise<void> {
    return this.#host.close();
  }
}

function defaultSlots({ layers, keyValueHeads, headWidth, contextLength }: DecoderShape): number {
  const bytesPerConversation = 2 * layers * keyValueHeads * headWidth * contextLength * 4;
  return Math.min(4096, Math.max(16, Math.floor(2 ** 30 / bytesPerConversation)));
}
