/** One LoRA step of a model of Qwen3-0.6B's shape with random weights, in a process of its own so that it can be weighed. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Rng } from '../../src/core/rng.ts';
import { createEmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import { batchOf, type TokenRow } from '../../src/engine/token-batch.ts';
import { openCheckpoint } from '../../src/model/checkpoint/checkpoint.ts';
import { crossEntropy } from '../../src/objective/imitation/cross-entropy.ts';
import { writeRandomCheckpoint } from './random-checkpoint.ts';
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

process.stdout.write(JSON.stringify(await main()));
process.exit(0);
