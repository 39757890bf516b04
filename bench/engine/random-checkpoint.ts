/** Checkpoint folders with random weights, in the form of Qwen3: models of a size, without the model. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Rng } from '../../src/core/rng.ts';
import { elementCount } from '../../src/model/checkpoint/safetensors-header.ts';
import { writeSafetensors } from '../../src/model/checkpoint/write-safetensors.ts';
import { type DecoderShape, parameterShapes } from '../../src/model/decoder/decoder.ts';

/** One block of normal numbers repeated: what they are does not matter, and drawing 600 million would take a minute. */
export async function writeRandomCheckpoint(folder: string, shape: DecoderShape): Promise<void> {
  const rng = Rng.of('weights');
  const block = Float32Array.from({ length: 1_000_003 }, () => 0.02 * rng.normal());
  const weights = parameterShapes(shape).map(({ name, shape: sizes, kind }) => {
    const data = new Float32Array(elementCount(sizes));
    if (kind === 'norm') data.fill(1);
    else
      for (let start = 0; start < data.length; start += block.length)
        data.set(block.subarray(0, data.length - start), start);
    return [name, { shape: sizes, data }] as const;
  });
  await writeSafetensors(join(folder, 'model.safetensors'), new Map(weights));
  const config = {
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    vocab_size: shape.vocabulary,
    hidden_size: shape.width,
    intermediate_size: shape.hidden,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.keyValueHeads,
    head_dim: shape.headWidth,
    hidden_act: 'silu',
    max_position_embeddings: 4096,
    rms_norm_eps: shape.normEpsilon,
    rope_theta: shape.ropeTheta,
    tie_word_embeddings: true,
    torch_dtype: 'float32',
  };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
}
