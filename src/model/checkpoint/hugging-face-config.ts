/** Reads `config.json` of a Hugging Face checkpoint, with the keys of transformers 4 and of transformers 5. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { DecoderShape, RopeScaling } from '../decoder/decoder.ts';

const size = z.int().positive();
const optionalSize = size.nullish();

const ropeSchema = z
  .looseObject({
    rope_theta: z.number().positive().nullish(),
    rope_type: z.string().nullish(),
    /** The name of `rope_type` before transformers 4.43. */
    type: z.string().nullish(),
    partial_rotary_factor: z.number().nullish(),
    factor: z.number().positive().nullish(),
    low_freq_factor: z.number().positive().nullish(),
    high_freq_factor: z.number().positive().nullish(),
    original_max_position_embeddings: optionalSize,
  })
  .nullish();

/** Keys that change what is computed, and those that are needed; others are kept and not read. */
const configSchema = z.looseObject({
  model_type: z.string(),
  architectures: z.array(z.string()).nullish(),
  vocab_size: size,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  num_key_value_heads: optionalSize,
  head_dim: optionalSize,
  hidden_act: z.string().nullish(),
  max_position_embeddings: optionalSize,
  rms_norm_eps: z.number().positive().nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  sliding_window: optionalSize,
  use_sliding_window: z.boolean().nullish(),
  max_window_layers: z.int().nullish(),
  layer_types: z.array(z.string()).nullish(),
  rope_parameters: ropeSchema,
  rope_theta: z.number().positive().nullish(),
  rope_scaling: ropeSchema,
  partial_rotary_factor: z.number().nullish(),
  quantization_config: z.unknown().optional(),
  eos_token_id: z.union([z.int(), z.array(z.int())]).nullish(),
});

type Config = z.output<typeof configSchema>;

/** What a family adds to the Llama decoder, and what its missing keys mean in transformers. */
interface Family {
  readonly architecture: string;
  readonly shape: Pick<DecoderShape, 'queryKeyValueBias' | 'queryKeyNorm'>;
  readonly contextLength: number;
  readonly keyValueHeads?: number;
  readonly headWidth?: number;
  /** The window of attention, or undefined where there is none. */
  slidingWindow(config: Config): number | undefined;
}

const windowByLayer = (config: Config): number | undefined => {
  const { use_sliding_window: used, sliding_window: window, layer_types: types } = config;
  if (types) return types.includes('sliding_attention') ? (window ?? 1) : undefined;
  const windowed = config.num_hidden_layers > (config.max_window_layers ?? 28);
  return used && windowed ? (window ?? undefined) : undefined;
};

const families: Readonly<Record<string, Family>> = {
  llama: {
    architecture: 'LlamaForCausalLM',
    shape: {},
    contextLength: 2048,
    slidingWindow: () => undefined,
  },
  mistral: {
    architecture: 'MistralForCausalLM',
    shape: {},
    contextLength: 131_072,
    keyValueHeads: 8,
    slidingWindow: (config) =>
      config.sliding_window === undefined ? 4096 : (config.sliding_window ?? undefined),
  },
  qwen2: {
    architecture: 'Qwen2ForCausalLM',
    shape: { queryKeyValueBias: true },
    contextLength: 32_768,
    keyValueHeads: 32,
    slidingWindow: windowByLayer,
  },
  qwen3: {
    architecture: 'Qwen3ForCausalLM',
    shape: { queryKeyNorm: true },
    contextLength: 32_768,
    keyValueHeads: 32,
    headWidth: 128,
    slidingWindow: windowByLayer,
  },
};

/** Longest sequence where nothing else is asked for; tables, masks and caches grow with it. */
const usualContextLength = 4096;

export interface HuggingFaceConfig {
  readonly shape: DecoderShape;
  /** Tokens that end a completion, as far as `config.json` knows. */
  readonly eosIds: readonly number[];
}

/**
 * The decoder that a parsed `config.json` describes; `file` names it in errors. `contextLength` is the longest sequence
 * that will be used, at most that of the model; by default the model's, but no more than 4096.
 * @throws TurnwiseError `model-invalid` for a key with an unusable value, `model-unsupported` for an architecture or a
 * feature that would be computed wrongly, naming file and key.
 */
export function readHuggingFaceConfig(
  value: unknown,
  file: string,
  contextLength?: number,
): HuggingFaceConfig {
  const config = parse(value, file);
  const unsupported = (key: string, allowed: string, next?: string): TurnwiseError =>
    new TurnwiseError('model-unsupported', {
      what: `${file}: this value of ${key} is not supported`,
      seen: JSON.stringify(valueAt(value, key.split('.'))) ?? 'nothing',
      allowed,
      ...(next !== undefined && { next }),
      fields: { file, key },
    });
  const family = Object.hasOwn(families, config.model_type) ? families[config.model_type]! : undefined;
  if (family === undefined) throw unsupported('model_type', Object.keys(families).join(', '));
  if (config.architectures?.length && !config.architectures.includes(family.architecture))
    throw unsupported('architectures', family.architecture);
  if (config.hidden_act && config.hidden_act !== 'silu') throw unsupported('hidden_act', 'silu');
  if (config.attention_bias) throw unsupported('attention_bias', 'false');
  if (config.mlp_bias) throw unsupported('mlp_bias', 'false');
  if (config.quantization_config)
    throw unsupported('quantization_config', 'none', 'Use the checkpoint in f32, f16 or bf16');

  const heads = config.num_attention_heads;
  const keyValueHeads = config.num_key_value_heads ?? family.keyValueHeads ?? heads;
  if (heads % keyValueHeads !== 0)
    throw invalid(file, 'num_key_value_heads', keyValueHeads, `a divisor of the ${heads} attention heads`);
  const headWidth = config.head_dim ?? missingHeadWidth(config, family);
  if (headWidth % 2 !== 0)
    throw invalid(file, config.head_dim ? 'head_dim' : 'hidden_size', headWidth, 'heads of an even width');

  const longest = config.max_position_embeddings ?? family.contextLength;
  if (contextLength !== undefined && !(contextLength >= 2 && contextLength <= longest))
    throw new TurnwiseError('config-invalid', {
      what: 'The model has no context of that length',
      seen: `${contextLength} tokens`,
      allowed: `2 to ${longest}, as max_position_embeddings of ${file} says`,
      fields: { file, key: 'max_position_embeddings' },
    });
  const context = contextLength ?? Math.min(longest, usualContextLength);
  const window = family.slidingWindow(config);
  if (window !== undefined && window < context)
    throw unsupported(
      'sliding_window',
      `no window, or one of at least the ${context} tokens of the context`,
      `Ask for a context of at most ${window} tokens`,
    );

  const eos = config.eos_token_id ?? [];
  const ropeScaling = readRopeScaling(config, unsupported);
  return {
    eosIds: typeof eos === 'number' ? [eos] : eos,
    shape: {
      vocabulary: config.vocab_size,
      width: config.hidden_size,
      layers: config.num_hidden_layers,
      heads,
      keyValueHeads,
      headWidth,
      hidden: config.intermediate_size,
      activation: 'swiglu',
      tiedHead: config.tie_word_embeddings ?? false,
      ropeTheta: config.rope_parameters?.rope_theta ?? config.rope_theta ?? 10_000,
      ...(ropeScaling && { ropeScaling }),
      ...family.shape,
      contextLength: context,
      normEpsilon: config.rms_norm_eps ?? 1e-6,
    },
  };
}

/** A `head_dim` of null, and for all but Qwen3 a missing one, is the width divided among the heads. */
function missingHeadWidth(config: Config, family: Family): number {
  if (config.head_dim === undefined && family.headWidth !== undefined) return family.headWidth;
  return Math.floor(config.hidden_size / config.num_attention_heads);
}

function readRopeScaling(
  config: Config,
  unsupported: (key: string, allowed: string) => TurnwiseError,
): RopeScaling | undefined {
  const key = config.rope_parameters ? 'rope_parameters' : 'rope_scaling';
  const rope = config[key];
  if ((config.partial_rotary_factor ?? 1) !== 1) throw unsupported('partial_rotary_factor', '1');
  if (!rope) return undefined;
  if ((rope.partial_rotary_factor ?? 1) !== 1) throw unsupported(`${key}.partial_rotary_factor`, '1');
  const type = rope.rope_type ?? rope.type ?? 'default';
  if (type === 'default') return undefined;
  if (type !== 'llama3')
    throw unsupported(`${key}.${rope.rope_type ? 'rope_type' : 'type'}`, 'default, llama3');
  const needed = <K extends keyof typeof rope>(name: K): NonNullable<(typeof rope)[K]> => {
    const found = rope[name];
    if (found === undefined || found === null)
      throw unsupported(`${key}.${String(name)}`, 'a positive number');
    return found as NonNullable<(typeof rope)[K]>;
  };
  return {
    factor: needed('factor'),
    lowFrequencyFactor: needed('low_freq_factor'),
    highFrequencyFactor: needed('high_freq_factor'),
    originalContextLength: needed('original_max_position_embeddings'),
  };
}

function parse(value: unknown, file: string): Config {
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const path = issue.path.map(String);
  const allowed = issue.message.replace(/^[^:]+: expected /, '').replace(/, received \w+$/, '');
  throw invalid(file, path.join('.') || 'the file', valueAt(value, path), allowed);
}

function invalid(file: string, key: string, seen: unknown, allowed: string): TurnwiseError {
  return new TurnwiseError('model-invalid', {
    what: `${file}: the value of ${key} cannot be used`,
    seen: JSON.stringify(seen) ?? 'nothing',
    allowed,
    fields: { file, key },
  });
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Readonly<Record<string, unknown>> | undefined | null)?.[key],
    value,
  );
}
