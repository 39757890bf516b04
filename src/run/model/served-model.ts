/** The embedded engine as what a Tinker server serves: adapters over a checkpoint, or copies of a small random model. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import { openCheckpoint } from '../../model/checkpoint.ts';
import type { DecoderShape } from '../../model/decoder.ts';
import { loadPretrainedTokenizer, type PretrainedTokenizer } from '../../model/pretrained-tokenizer.ts';
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
 * A checkpoint folder of Hugging Face: every model is an adapter, and all share one copy of its weights.
 *
 * @throws TurnwiseError as `openCheckpoint`
 */
export async function checkpointSource(
  folder: string,
  options: ServedModelOptions & { readonly name: string; readonly contextLength?: number },
): Promise<ServedSource> {
  const { name, contextLength, ...engine } = options;
  const model = await openCheckpoint(folder, { name, ...(contextLength !== undefined && { contextLength }) });
  const { vocabulary } = model.shape;
  const decode = existsSync(join(folder, 'tokenizer.json'))
    ? decoderOf((await loadPretrainedTokenizer(folder, vocabulary)).tokenizer)
    : undefined;
  // Its own adapter stays at zero, so that it is the base model; the others share its weights.
  const base = await createEmbeddedEngine({ model, seed: 'base', lora: { rank: 1, alpha }, ...engine });
  return {
    name,
    vocabulary,
    contextLength: model.shape.contextLength,
    isLora: true,
    stopIds: model.eosIds,
    ...(decode && { decode }),
    create: ({ rank, targets, seed }) =>
      base.attach({ seed, lora: { rank: Math.max(1, rank), targets, alpha } }),
    close: () => base.close(),
  };
}

function decoderOf(tokenizer: PretrainedTokenizer): (ids: readonly number[]) => string {
  return (ids) => tokenizer.decode(ids);
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
