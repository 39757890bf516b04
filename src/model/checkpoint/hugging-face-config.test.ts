import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readHuggingFaceConfig } from './hugging-face-config.ts';

const fixture = (variant: string): Record<string, unknown> =>
  JSON.parse(readFileSync(`tests/hf-parity/${variant}/config.json`, 'utf8')) as Record<string, unknown>;

const shapeOf = (config: Record<string, unknown>, contextLength?: number) =>
  readHuggingFaceConfig(config, 'config.json', contextLength).shape;

const refusal = (config: Record<string, unknown>, contextLength?: number): string => {
  try {
    shapeOf(config, contextLength);
    return 'accepted';
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
};

/** Llama 3.2 1B, in the keys of transformers 4. */
const llama = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  head_dim: 64,
  hidden_act: 'silu',
  hidden_size: 2048,
  intermediate_size: 8192,
  max_position_embeddings: 131072,
  num_attention_heads: 32,
  num_hidden_layers: 16,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-5,
  rope_scaling: {
    factor: 32,
    high_freq_factor: 4,
    low_freq_factor: 1,
    original_max_position_embeddings: 8192,
    rope_type: 'llama3',
  },
  rope_theta: 500000,
  tie_word_embeddings: true,
  torch_dtype: 'bfloat16',
  vocab_size: 128256,
};

describe('a configuration', () => {
  it('becomes a shape', () => {
    expect(shapeOf(llama)).toMatchInlineSnapshot(`
      {
        "activation": "swiglu",
        "contextLength": 4096,
        "headWidth": 64,
        "heads": 32,
        "hidden": 8192,
        "keyValueHeads": 8,
        "layers": 16,
        "normEpsilon": 0.00001,
        "ropeScaling": {
          "factor": 32,
          "highFrequencyFactor": 4,
          "lowFrequencyFactor": 1,
          "originalContextLength": 8192,
        },
        "ropeTheta": 500000,
        "tiedHead": true,
        "vocabulary": 128256,
        "width": 2048,
      }
    `);
  });

  it('means the same in the keys of both generations of transformers', () => {
    const { rope_scaling, rope_theta, torch_dtype: dtype, ...rest } = llama;
    expect(shapeOf({ ...rest, dtype, rope_parameters: { ...rope_scaling, rope_theta } })).toEqual(
      shapeOf(llama),
    );
    for (const scaling of [undefined, null, { rope_type: 'default' }, { type: 'default' }])
      expect(shapeOf({ ...llama, rope_scaling: scaling }).ropeScaling).toBeUndefined();
  });

  it('has the defaults of its family', () => {
    const { head_dim: _, num_key_value_heads: __, rms_norm_eps: ___, rope_theta: ____, ...rest } = llama;
    const { tie_word_embeddings: _____, max_position_embeddings: ______, ...bare } = rest;
    expect(shapeOf({ ...bare, rope_scaling: null })).toMatchObject({
      headWidth: 64,
      keyValueHeads: 32,
      normEpsilon: 1e-6,
      ropeTheta: 10_000,
      tiedHead: false,
      contextLength: 2048,
    });
    const qwen = { ...fixture('qwen3/sharded'), head_dim: undefined };
    expect(shapeOf(qwen).headWidth).toBe(128);
    expect(shapeOf({ ...qwen, head_dim: null }).headWidth).toBe(16);
  });

  it('limits the context', () => {
    expect(shapeOf(llama).contextLength).toBe(4096);
    expect(shapeOf(llama, 20_000).contextLength).toBe(20_000);
    expect(refusal(fixture('llama/sharded'), 513)).toMatchInlineSnapshot(
      `"config-invalid: The model has no context of that length. Seen: 513 tokens. Allowed: 2 to 512, as max_position_embeddings of config.json says."`,
    );
  });

  it('may name a window that is not used, or longer than the context', () => {
    expect(refusal(fixture('qwen2/sharded'))).toBe('accepted');
    expect(refusal({ ...fixture('mistral/f32'), sliding_window: 512 })).toBe('accepted');
    expect(refusal({ ...fixture('mistral/f32'), sliding_window: 64 }, 64)).toBe('accepted');
    expect(refusal({ ...fixture('qwen3/sharded'), use_sliding_window: true, sliding_window: 8 })).toBe(
      'accepted',
    );
  });

  it('that would be computed wrongly is refused, naming the key', () => {
    expect(refusal({ ...llama, model_type: 'gemma3' })).toMatchInlineSnapshot(
      `"model-unsupported: config.json: this value of model_type is not supported. Seen: "gemma3". Allowed: llama, mistral, qwen2, qwen3."`,
    );
    expect(refusal({ ...llama, architectures: ['LlamaForSequenceClassification'] })).toMatchInlineSnapshot(
      `"model-unsupported: config.json: this value of architectures is not supported. Seen: ["LlamaForSequenceClassification"]. Allowed: LlamaForCausalLM."`,
    );
    expect(refusal({ ...llama, hidden_act: 'gelu' })).toMatchInlineSnapshot(
      `"model-unsupported: config.json: this value of hidden_act is not supported. Seen: "gelu". Allowed: silu."`,
    );
    expect(refusal({ ...llama, attention_bias: true })).toMatchInlineSnapshot(
      `"model-unsupported: config.json: this value of attention_bias is not supported. Seen: true. Allowed: false."`,
    );
    expect(refusal({ ...llama, mlp_bias: true })).toMatch(/^model-unsupported: config.json: .* mlp_bias/);
    expect(refusal({ ...llama, quantization_config: { bits: 4 } })).toMatch(/quantization_config/);
    expect(refusal({ ...llama, partial_rotary_factor: 0.5 })).toMatch(/partial_rotary_factor/);
    expect(refusal({ ...llama, rope_scaling: { rope_type: 'yarn', factor: 4 } })).toMatchInlineSnapshot(
      `"model-unsupported: config.json: this value of rope_scaling.rope_type is not supported. Seen: "yarn". Allowed: default, llama3."`,
    );
    expect(refusal({ ...llama, rope_scaling: { type: 'linear', factor: 4 } })).toMatchInlineSnapshot(
      `"model-unsupported: config.json: this value of rope_scaling.type is not supported. Seen: "linear". Allowed: default, llama3."`,
    );
    expect(refusal({ ...llama, rope_scaling: { rope_type: 'llama3', factor: 4 } })).toMatchInlineSnapshot(
      `"model-unsupported: config.json: this value of rope_scaling.low_freq_factor is not supported. Seen: nothing. Allowed: a positive number."`,
    );
    expect(refusal({ ...fixture('mistral/f32'), sliding_window: 64 })).toMatchInlineSnapshot(
      `"model-unsupported: config.json: this value of sliding_window is not supported. Seen: 64. Allowed: no window, or one of at least the 512 tokens of the context. Ask for a context of at most 64 tokens."`,
    );
    const windowed = { use_sliding_window: true, sliding_window: 8, max_window_layers: 1, layer_types: null };
    expect(refusal({ ...fixture('qwen2/sharded'), ...windowed })).toMatch(/sliding_window/);
    const mixed = { layer_types: ['full_attention', 'sliding_attention'], sliding_window: 8 };
    expect(refusal({ ...fixture('qwen3/bf16'), ...mixed })).toMatch(/sliding_window/);
  });

  it('with an unusable value is refused, naming the key', () => {
    expect(refusal({ ...llama, hidden_size: undefined })).toMatchInlineSnapshot(
      `"model-invalid: config.json: the value of hidden_size cannot be used. Seen: nothing. Allowed: number."`,
    );
    expect(refusal({ ...llama, num_hidden_layers: 'two' })).toMatchInlineSnapshot(
      `"model-invalid: config.json: the value of num_hidden_layers cannot be used. Seen: "two". Allowed: number."`,
    );
    expect(refusal({ ...llama, num_key_value_heads: 5 })).toMatchInlineSnapshot(
      `"model-invalid: config.json: the value of num_key_value_heads cannot be used. Seen: 5. Allowed: a divisor of the 32 attention heads."`,
    );
    expect(refusal({ ...llama, head_dim: 63 })).toMatchInlineSnapshot(
      `"model-invalid: config.json: the value of head_dim cannot be used. Seen: 63. Allowed: heads of an even width."`,
    );
  });
});
