/** Learners with adapters over a model of 29 million parameters, in a process of their own so that it can be weighed. */

import { Rng } from '../../src/core/rng.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import { batchOf } from '../../src/engine/token-batch.ts';
import { crossEntropy } from '../../src/objective/imitation/cross-entropy.ts';
import { medium } from './shapes.ts';

/** One learner, two over one base, or two that load it each. */
export type Arrangement = 'one' | 'shared' | 'apart';

const lora = { rank: 8 };
const tokens = 64;

async function main(arrangement: Arrangement): Promise<{ readonly megabytes: number }> {
  const options = { shape: medium, seed: 'base', lora, threads: 1, tokenBudget: 4 * tokens, slots: 16 };
  const first = await createEmbeddedEngine(options);
  const engines = [first];
  if (arrangement === 'shared') engines.push(await first.attach({ seed: 'second', lora, slots: 16 }));
  if (arrangement === 'apart') engines.push(await createEmbeddedEngine(options));
  for (const engine of engines) await work(engine);
  const megabytes = process.memoryUsage().rss / 2 ** 20;
  for (const engine of engines) await engine.close();
  return { megabytes };
}

/** A step of learning, and one of acting. */
async function work(engine: EmbeddedEngine): Promise<void> {
  const rng = Rng.of('rows');
  const rows = Array.from({ length: 4 }, () => ({
    ids_T: Int32Array.from({ length: tokens }, () => rng.int(medium.vocabulary)),
    channels: { weight: new Float32Array(tokens).fill(1 / (4 * tokens)) },
  }));
  await engine.forwardBackward(batchOf(rows), crossEntropy(), { temperature: 1 });
  await engine.optimStep({
    ...{ learningRate: 1e-3, beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 },
  });
  await engine.publish();
  await engine.sample({
    ...{ conversation: 'a', keep: 0, append: rows[0]!.ids_T, stopIds: [], seed: 'a' },
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 16 },
  });
}

process.stdout.write(JSON.stringify(await main(process.argv[2] as Arrangement)));
process.exit(0);
