/** The embedded engine as what a Tinker server serves: adapters over a checkpoint, or copies of a small random model. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import { isFile, openCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import type { DecoderShape } from '../../model/decoder/decoder.ts';
import { loadGgufTokenizer } from '../../model/gguf/gguf-language.ts';
import {
  loadPretrainedTokenizer,
  type PretrainedTokenizer,
} from '../../model/tokenizer/pretrained-tokenizer.ts';
import type { ModelSource } from '../../server/tinker/model-source.ts';

export interface ServedModelOptions {
  readonly threads: number;
  /** Padded tokens of the training micro-batches computed at once. */
  readonly tokenBudget: number;
  readonly inProcess?: boolean;
}

export interface ServedSource extends ModelSource {
  close(): Promise<void>;
}

/** Adapters have this alpha whatever their rank, as clients of the API expect; the scale is alpha / rank. */
const alpha = 32;

/**
 * A checkpoint folder or a GGUF file: every model is an adapter, and all share one copy of its weights.
 *
 * @throws TurnwiseError as `openCheckpoint`
 */
export async function checkpointSource(
  path: string,
  options: ServedModelOptions & { readonly name: string; readonly contextLength?: number },
): Promise<ServedSource> {
  const { name, contextLength, ...engine } = options;
  const model = await openCheckpoint(path, { name, ...(contextLength !== undefined && { contextLength }) });
  const { vocabulary } = model.shape;
  const tokenizer = await tokenizerOf(path, vocabulary);
  // Its own adapter stays at zero, so that it is the base model; the others share its weights.
  const base = await createEmbeddedEngine({ model, seed: 'base', lora: { rank: 1, alpha }, ...engine });
  return {
    name,
    vocabulary,
    contextLength: model.shape.contextLength,
    isLora: true,
    stopIds: model.eosIds,
    ...(tokenizer && { decode: (ids: readonly number[]) => tokenizer.decode(ids) }),
    create: ({ rank, targets, seed }) =>
      base.attach({ seed, lora: { rank: Math.max(1, rank), targets, alpha } }),
    close: () => base.close(),
  };
}

/** Weights can be served without one. */
async function tokenizerOf(path: string, vocabulary: number): Promise<PretrainedTokenizer | undefined> {
  if (isFile(path)) return loadGgufTokenizer(path, vocabulary);
  if (!existsSync(join(path, 'tokenizer.json'))) return undefined;
  return (await loadPretrainedTokenizer(path, vocabulary)).tokenizer;
}

/** A model with random weights, trained whole: to try things out, and for models that start from nothing. */
export function randomSource(
  name: string,
  shape: DecoderShape,
  seed: number,
  options: ServedModelOptions,
): ServedSource {
  const create = (): Promise<EmbeddedEngine> => createEmbeddedEngine({ shape, seed, ...options });
  return {
    name,
    vocabulary: shape.vocabulary,
    contextLength: shape.contextLength,
    isLora: false,
    stopIds: [],
    create,
    close: async () => {},
  };
}
