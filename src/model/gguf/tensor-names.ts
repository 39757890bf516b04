/** Names and row orders of tensors: how GGUF has what checkpoint folders have. */

import type { DecoderShape } from '../decoder/decoder.ts';

const WHOLE: Readonly<Record<string, string>> = {
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
};

const IN_LAYER: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

/** What the rotation of the components is divided by, where it is slowed; no parameter of the model. */
export const ROPE_FREQUENCIES = 'rope_freqs.weight';

/** The name in GGUF of a parameter of a decoder. */
export function ggufName(parameter: string): string {
  const [, layer, inLayer, suffix] = /^model\.layers\.(\d+)\.(.*)\.(weight|bias)$/.exec(parameter) ?? [];
  if (layer !== undefined) return `blk.${layer}.${IN_LAYER[inLayer!]}.${suffix}`;
  return `${WHOLE[parameter.replace(/\.weight$/, '')]}.weight`;
}

/**
 * Where a row of the file stands in the checkpoint. Llama's files keep the two components that are rotated together side
 * by side in the queries and keys; here, as in transformers, they are half a head apart. Undefined: where it is.
 */
export function rowPlace(
  architecture: string,
  parameter: string,
  { headWidth }: DecoderShape,
): ((row: number) => number) | undefined {
  if (architecture !== 'llama' || !/\.[qk]_proj\.weight$/.test(parameter)) return undefined;
  return (row) => {
    const within = row % headWidth;
    return row - within + (within % 2) * (headWidth / 2) + (within >> 1);
  };
}
