/** One size of pretrained model: `write` makes a checkpoint of random weights, `measure` loads and uses it. */

import { Rng } from '../../src/core/rng.ts';
import { createEmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import { batchOf } from '../../src/engine/token-batch.ts';
import { openCheckpoint } from '../../src/model/checkpoint/checkpoint.ts';
import { crossEntropy } from '../../src/objective/imitation/cross-entropy.ts';
import { memoryOf } from '../../src/run/estimate/memory.ts';
import { timeEngine } from '../../src/run/estimate/timing.ts';
import { trainConfigSchema } from '../../src/train/config/config.ts';
import { sizes } from './pretrained.ts';
import { writeRandomCheckpoint } from './random-checkpoint.ts';

const [what, name, folder, threads] = process.argv.slice(2);
const shape = sizes[name!]!;
const [prompt, answer, members] = [100, 40, 8];
const lora = { rank: 16 } as const;

async function measure(): Promise<Readonly<Record<string, number>>> {
  const began = performance.now();
  const engine = await createEmbeddedEngine({
    model: await openCheckpoint(folder!, { contextLength: 512 }),
    lora,
    seed: 'bench',
    threads: Number(threads),
    tokenBudget: 2048,
  });
  const loadSeconds = (performance.now() - began) / 1000;
  const timing = await timeEngine(engine, new AbortController().signal);
  const rng = Rng.of('group', name!);
  const draw = (length: number): number[] => Array.from({ length }, () => rng.int(shape.vocabulary));
  const start = draw(prompt);
  const batch = batchOf(
    Array.from({ length: members }, () => ({
      ids_T: Int32Array.from([...start, ...draw(answer)]),
      channels: { weight: new Float32Array(prompt + answer).fill(1 / (members * answer), prompt) },
    })),
  );
  let stepSeconds = 0;
  for (let step = 0; step < 2; step++) {
    const from = performance.now();
    await engine.forwardBackward(batch, crossEntropy(), { temperature: 1 });
    await engine.optimStep({
      ...{ learningRate: 0, beta1: 0.9, beta2: 0.98 },
      ...{ epsilon: 1e-8, weightDecay: 0, clipNorm: 1 },
    });
    stepSeconds = (performance.now() - from) / 1000;
  }
  await engine.close();
  const config = trainConfigSchema.parse({
    optimizer: { tokenBudget: 412 },
    rollout: { concurrency: members },
  });
  const gigabytes = (bytes: number): number => Number((bytes / 1e9).toFixed(2));
  const round = (value: number): number => Number(value.toPrecision(3));
  return {
    loadSeconds: round(loadSeconds),
    readTokensPerSecond: Math.round(1 / timing.readToken),
    decodeMsOneRow: round(1000 * timing.decodeStep),
    decodeMsEightRows: round(1000 * (timing.decodeStep + 7 * timing.decodeRow)),
    groupStepSeconds: round(stepSeconds),
    peakGigabytes: gigabytes(process.resourceUsage().maxRSS * 1024),
    estimatedGigabytes: gigabytes(memoryOf(shape, config, lora, prompt + answer).total),
  };
}

if (what === 'write') await writeRandomCheckpoint(folder!, shape);
else process.stdout.write(JSON.stringify(await measure()));
process.exit(0);
