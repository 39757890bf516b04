/** The metadata of a GGUF file as the `config.json` of the same model, so that one reader judges both. */

import { basename } from 'node:path';
import type { JsonObject } from '../../core/json/json.ts';
import { invalidKey, mismatched, unsupported } from './gguf-errors.ts';
import type { GgufFile } from './gguf-file.ts';
import type { Metadata } from './metadata.ts';
import { TensorFiles } from './read-tensor.ts';
import { scalingFromDivisors } from './rope-frequencies.ts';
import { ROPE_FREQUENCIES } from './tensor-names.ts';

/** The architectures that are read, by their names in GGUF: SmolLM2, Mistral and Llama 1 to 3 call themselves llama. */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['llama', 'LlamaForCausalLM'],
  ['qwen2', 'Qwen2ForCausalLM'],
  ['qwen3', 'Qwen3ForCausalLM'],
]);

/** @throws TurnwiseError `model-invalid` where none is named, `model-unsupported` for others than are read */
export function architectureOf(metadata: Metadata): string {
  const key = 'general.architecture';
  const architecture = metadata.required(key, metadata.text(key));
  if (ARCHITECTURES.has(architecture)) return architecture;
  throw unsupported(metadata.path, 'the architecture of the model is not supported', {
    seen: `architecture ${JSON.stringify(architecture)}`,
    allowed: [...ARCHITECTURES.keys()].join(', '),
    next: 'Take a model of the Llama, SmolLM2, Mistral, Qwen2 or Qwen3 families',
  });
}

/**
 * What `config.json` would say. Everything in the file that would change what is computed, and is not computed here, is
 * refused by its key.
 *
 * @param eosIds tokens that end a completion
 * @throws TurnwiseError `model-invalid`, `model-unsupported`, `checkpoint-mismatch`
 */
export async function configOf(file: GgufFile, eosIds: readonly number[]): Promise<JsonObject> {
  const { metadata, tensors, path } = file;
  const architecture = architectureOf(metadata);
  requirePlain(metadata, architecture);
  const size = (name: string): number | undefined => {
    const key = `${architecture}.${name}`;
    const value = metadata.integer(key);
    if (value === 0) throw invalidKey(path, key, '0', 'a positive number');
    return value;
  };
  const required = (name: string): number => metadata.required(`${architecture}.${name}`, size(name));
  const layers = required('block_count');
  // Before anything is made for each layer.
  if (layers > tensors.size) {
    throw invalidKey(
      path,
      `${architecture}.block_count`,
      String(layers),
      `at most ${tensors.size}, the number of tensors`,
    );
  }
  const width = required('embedding_length');
  const heads = required('attention.head_count');
  const headWidth = size('attention.key_length') ?? Math.floor(width / heads);
  for (const name of ['attention.value_length', 'rope.dimension_count']) {
    const seen = size(name);
    if (seen === undefined || seen === headWidth) continue;
    throw unsupported(path, `${architecture}.${name} differs from the width of the heads`, {
      seen: String(seen),
      allowed: String(headWidth),
    });
  }
  const ropeTheta = metadata.number(`${architecture}.rope.freq_base`) ?? 10_000;
  const epsilon = `${architecture}.attention.layer_norm_rms_epsilon`;
  const window = size('attention.sliding_window');
  // A window of attention is Mistral's: it is judged there, against the context that is asked for.
  const isMistral = architecture === 'llama' && window !== undefined;
  return {
    model_type: isMistral ? 'mistral' : architecture,
    architectures: [isMistral ? 'MistralForCausalLM' : ARCHITECTURES.get(architecture)!],
    hidden_size: width,
    num_hidden_layers: layers,
    intermediate_size: required('feed_forward_length'),
    num_attention_heads: heads,
    num_key_value_heads: size('attention.head_count_kv') ?? heads,
    head_dim: headWidth,
    hidden_act: 'silu',
    rope_theta: ropeTheta,
    rms_norm_eps: metadata.required(epsilon, metadata.number(epsilon)),
    max_position_embeddings: required('context_length'),
    vocab_size: vocabularyOf(file, architecture),
    tie_word_embeddings: !tensors.has('output.weight'),
    eos_token_id: [...eosIds],
    dtype: 'float32',
    ...(window !== undefined && { sliding_window: window }),
    ...(window !== undefined && !isMistral && { use_sliding_window: true, max_window_layers: 0 }),
    ...(tensors.has(ROPE_FREQUENCIES) && {
      rope_scaling: await ropeScalingOf(file, { ropeTheta, headWidth }),
    }),
  };
}

/** Keys of what is not computed here. */
function requirePlain(metadata: Metadata, architecture: string): void {
  const { path, entries } = metadata;
  const refuse = (key: string, allowed: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    throw unsupported(path, `this value of ${key} is not supported`, {
      seen: entry.type === 'array' ? `${entry.value.length} values` : String(entry.value),
      allowed,
      next: 'Take a plain dense model of the family',
    });
  };
  for (const name of ['attention.head_count', 'attention.head_count_kv', 'feed_forward_length']) {
    const key = `${architecture}.${name}`;
    if (entries.get(key)?.type === 'array') refuse(key, 'one number for all layers');
  }
  if ((metadata.integer(`${architecture}.expert_count`) ?? 0) > 0)
    refuse(`${architecture}.expert_count`, '0');
  const scaling = `${architecture}.rope.scaling.type`;
  if ((metadata.text(scaling) ?? 'none') !== 'none') refuse(scaling, 'none');
  for (const key of entries.keys()) {
    if (key.startsWith(`${architecture}.`) && /(_|\.)scale$|softcapping$/.test(key)) refuse(key, 'none');
  }
}

/** Rows of the embedding, with which all that speaks of tokens must agree. */
function vocabularyOf({ metadata, tensors, path }: GgufFile, architecture: string): number {
  const name = 'token_embd.weight';
  const rows = tensors.get(name)?.dimensions[1];
  if (rows === undefined) throw mismatched(path, `there is no matrix ${name}, which every model has`, name);
  const key = `${architecture}.vocab_size`;
  const stated = metadata.integer(key) ?? rows;
  if (stated !== rows) throw invalidKey(path, key, String(stated), `${rows}, the rows of ${name}`);
  const tokens = metadata.texts('tokenizer.ggml.tokens')?.length ?? rows;
  if (tokens === rows) return rows;
  throw invalidKey(path, 'tokenizer.ggml.tokens', `${tokens} tokens`, `${rows}, the rows of ${name}`);
}

async function ropeScalingOf(
  { tensors, path }: GgufFile,
  rotation: { readonly ropeTheta: number; readonly headWidth: number },
): Promise<JsonObject | null> {
  const name = ROPE_FREQUENCIES;
  const tensor = tensors.get(name)!;
  const half = rotation.headWidth / 2;
  if (tensor.dimensions.length !== 1 || tensor.dimensions[0] !== half) {
    throw mismatched(path, `tensor ${name} has another shape than the model calls for`, name, {
      seen: `[${tensor.dimensions.join(', ')}]`,
      allowed: `[${half}]`,
    });
  }
  const files = new TensorFiles();
  const divisors = await files.read(name, tensor).finally(() => files.close());
  if (divisors.every((value) => value === 1)) return null;
  const scaling = scalingFromDivisors(rotation, divisors);
  if (scaling === undefined) {
    throw unsupported(path, `the rotation that ${name} describes is not Llama 3.1's`, {
      seen: `${divisors.length} values from ${Math.min(...divisors)} to ${Math.max(...divisors)}`,
      allowed: 'what rope_type llama3 gives',
      next: `Use the model's folder as transformers saves it, instead of ${basename(path)}`,
      tensor: name,
    });
  }
  return {
    rope_type: 'llama3',
    factor: scaling.factor,
    low_freq_factor: scaling.lowFrequencyFactor,
    high_freq_factor: scaling.highFrequencyFactor,
    original_max_position_embeddings: scaling.originalContextLength,
  };
}
