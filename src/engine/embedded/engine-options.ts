/** Options of embedded engines, and the settings that they become: shape with heads, adapter, slots. */

import { openAdapter } from '../../model/checkpoint/adapter-folder.ts';
import type { ModelCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import type { DecoderShape } from '../../model/decoder/decoder.ts';
import { type LoraOptions, resolveLora } from '../../model/decoder/lora.ts';
import type { EngineSettings } from './engine-settings.ts';

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

/** The settings of an engine on its own. */
export async function settingsOf(options: EmbeddedEngineOptions): Promise<EngineSettings> {
  const { seed, threads, tokenBudget } = options;
  const shape = 'shape' in options ? options.shape : withHeads(options.model.shape, options);
  return {
    shape,
    ...('model' in options && { model: options.model }),
    seed,
    ...(await adapterSettings(shape, options)),
    threads,
    tokenBudget,
    slots: options.slots ?? defaultSlots(shape),
    ...(options.sharedPrefixes && { sharedPrefixes: options.sharedPrefixes }),
  };
}

/** The settings of another engine over the weights of one with `settings`. */
export async function attachedSettings(
  { lora: _lora, adapter: _, ...rest }: EngineSettings,
  options: AttachOptions,
): Promise<EngineSettings> {
  const { valueHead: _value, extraHeads: _extra, guidance: _guidance, ...body } = rest.shape;
  const { contextLength = body.contextLength } = options;
  const shape = withHeads({ ...body, contextLength }, options);
  const adapter = await adapterSettings(shape, options);
  const slots = options.slots ?? defaultSlots(shape);
  const model = rest.model && { ...rest.model, shape: { ...rest.model.shape, contextLength } };
  return { ...rest, ...adapter, ...(model && { model }), shape, seed: options.seed, slots };
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

function defaultSlots({ layers, keyValueHeads, headWidth, contextLength }: DecoderShape): number {
  const bytesPerConversation = 2 * layers * keyValueHeads * headWidth * contextLength * 4;
  return Math.min(4096, Math.max(16, Math.floor(2 ** 30 / bytesPerConversation)));
}
