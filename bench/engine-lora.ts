/** One LoRA step of a model of Qwen3-0.6B's shape with random weights, in a process of its own so that it can be weighed. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Rng } from '../src/core/rng.ts';
import { createEmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import { batchOf, type TokenRow } from '../src/engine/token-batch.ts';
import { openCheckpoint } from '../src/model/checkpoint/checkpoint.ts';
import { elementCount, writeSafetensors } from '../src/model/checkpoint/safetensors.ts';
import { type DecoderShape, parameterShapes } from '../src/model/decoder/decoder.ts';
import { crossEntropy } from '../src/objective/imitation/cross-entropy.ts';
import { large } from './shapes.ts';

export interface LoraBench {
  readonly loadSeconds: number;
  readonly tokensPerSecond: number;
  readonly stepSeconds: number;
  readonly peakResidentMegabytes: number;
  readonly losses: readonly number[];
}

const [rows, tokens, steps] = [4, 512, 2];

async function main(): Promise<LoraBench> {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-bench-'));
  try {
    await writeRandomCheckpoint(folder, large);
    const start = performance.now();
    const engine = await createEmbeddedEngine({
      model: await openCheckpoint(folder, { contextLength: tokens }),
      lora: { rank: 16 },
      seed: 'bench',
      threads: 2,
      tokenBudget: tokens,
    });
    const loadSeconds = (performance.now() - start) / 1000;
    const rng = Rng.of('rows');
    const batch = Array.from(
      { length: rows },
      (): TokenRow => ({
        ids_T: Int32Array.from({ length: tokens }, () => rng.int(large.vocabulary)),
        channels: { weight: new Float32Array(tokens).fill(1 / (rows * tokens)) },
      }),
    );
    const losses: number[] = [];
    let stepSeconds = 0;
    for (let step = 0; step < steps; step++) {
      const begin = performance.now();
      losses.push((await engine.forwardBackward(batchOf(batch), crossEntropy(), { temperature: 1 })).loss);
      await engine.optimStep({
        learningRate: 1e-3,
        beta1: 0.9,
        beta2: 0.98,
        epsilon: 1e-8,
        weightDecay: 0,
        clipNorm: 1,
      });
      stepSeconds = (performance.now() - begin) / 1000;
    }
    await engine.close();
    return {
      loadSeconds,
      stepSeconds,
      tokensPerSecond: (rows * tokens) / stepSeconds,
      peakResidentMegabytes: process.resourceUsage().maxRSS / 1024,
      losses,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** One block of normal numbers repeated: what they are does not matter, and drawing 600 million would take a minute. */
async function writeRandomCheckpoint(folder: string, shape: DecoderShape): Promise<void> {
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

process.stdout.write(JSON.stringify(await main()));
process.exit(0);
