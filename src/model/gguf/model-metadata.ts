/** The metadata of a GGUF file that is written: what it says of the model's architecture and size. */

import { basename } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { ModelCheckpoint } from '../checkpoint/checkpoint.ts';
import type { MetadataValue } from './metadata.ts';
import { FILE_TYPES, type WrittenType } from './quantise.ts';

/** Names of families in GGUF, by `model_type`. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  llama: 'llama',
  mistral: 'llama',
  qwen2: 'qwen2',
  qwen3: 'qwen3',
};

export const text = (value: string): MetadataValue => ({ type: 'string', value });
export const whole = (value: number): MetadataValue => ({ type: 'u32', value });
const float = (value: number): MetadataValue => ({ type: 'f32', value });

/** What every file says of its tensors. */
function fileEntries(type: WrittenType): readonly (readonly [string, MetadataValue])[] {
  return [
    ['general.file_type', whole(FILE_TYPES[type])],
    ['general.quantization_version', whole(2)],
  ];
}

/** Of a model that was a checkpoint folder. */
export function folderMetadata(
  { shape, name }: ModelCheckpoint,
  config: JsonObject,
  type: WrittenType,
): Map<string, MetadataValue> {
  const family = String(config.model_type);
  const architecture = ARCHITECTURES[family];
  if (architecture === undefined) {
    throw new TurnwiseError('export-unsupported', {
      what: 'GGUF has no place for this family of models here',
      seen: `model_type ${family}`,
      allowed: Object.keys(ARCHITECTURES).join(', '),
      next: 'Export it as a checkpoint folder with --merged',
    });
  }
  const window =
    family === 'mistral' || config.use_sliding_window === true ? config.sliding_window : undefined;
  const longest = config.max_position_embeddings;
  const own: Readonly<Record<string, MetadataValue>> = {
    block_count: whole(shape.layers),
    context_length: whole(typeof longest === 'number' ? longest : shape.contextLength),
    embedding_length: whole(shape.width),
    feed_forward_length: whole(shape.hidden),
    'attention.head_count': whole(shape.heads),
    'attention.head_count_kv': whole(shape.keyValueHeads),
    'attention.key_length': whole(shape.headWidth),
    'attention.value_length': whole(shape.headWidth),
    'attention.layer_norm_rms_epsilon': float(shape.normEpsilon),
    'rope.freq_base': float(shape.ropeTheta),
    'rope.dimension_count': whole(shape.headWidth),
    vocab_size: whole(shape.vocabulary),
    ...(typeof window === 'number' && { 'attention.sliding_window': whole(window) }),
  };
  return new Map([
    ['general.architecture', text(architecture)],
    ['general.type', text('model')],
    ['general.name', text(basename(name))],
    ...fileEntries(type),
    ...Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value] as const),
  ]);
}

/** Keys that speak of the old file alone. */
const OF_THE_FILE = /^(general\.(alignment|file_type|quantization_version|quantized_by)|split\.|quantize\.)/;

/** Of a model that was a GGUF file: all that it said, but for its tensors' types and parts. */
export function keptMetadata(
  entries: ReadonlyMap<string, MetadataValue>,
  type: WrittenType,
): Map<string, MetadataValue> {
  const kept = [...entries].filter(([key]) => !OF_THE_FILE.test(key));
  return new Map([...kept, ...fileEntries(type)]);
}
