/** The loop of memory.ts, in a thread of its own: a small model samples and trains, and the process is weighed on the way. */

import { parentPort, workerData } from 'node:worker_threads';
import { Rng } from '../src/core/rng.ts';
import { createEmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import { HeapKeeper } from '../src/engine/embedded/heap-keeper.ts';
import { batchOf } from '../src/engine/token-batch.ts';
import type { DecoderShape } from '../src/model/decoder/decoder.ts';
import { ppoClip } from '../src/objective/policy-gradient/ppo-clip.ts';
import { sampleAll } from '../src/policy/sampler.ts';
import type { MemoryBench } from './memory.ts';

const shape: DecoderShape = {
  vocabulary: 64,
  width: 64,
  layers: 2,
  heads: 2,
  keyValueHeads: 2,
  headWidth: 32,
  hidden: 128,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10_000,
  contextLength: 64,
  normEpsilon: 1e-5,
};

const weighings = 10;

async function measure(steps: number): Promise<MemoryBench> {
  const engine = await createEmbeddedEngine({ shape, seed: 'memory', threads: 2, tokenBudget: 1024 });
  const objective = ppoClip();
  const rng = Rng.of('memory');
  const heap = new HeapKeeper();
  const resident = (): number => process.memoryUsage.rss() / 2 ** 20;
  let earlyMegabytes = 0;
  let lateMegabytes = 0;
  for (let step = 0; step < steps; step++) {
    const requests = Array.from({ length: 32 }, (_, index) => ({
      conversation: `${step}/${index}`,
      keep: 0,
      append: Int32Array.from({ length: 4 + rng.int(12) }, () => rng.int(64)),
      sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 4 + rng.int(12) },
      stopIds: [],
      seed: `${step}/${index}`,
    }));
    const results = await sampleAll(engine, requests);
    engine.release(requests.map(({ conversation }) => conversation));
    const rows = results.map(({ ids, logprobs }, index) => {
      const prompt = [...requests[index]!.append];
      const pad = prompt.map(() => 0);
      return {
        ids_T: Int32Array.from([...prompt, ...ids]),
        channels: {
          weight: Float32Array.from([...pad, ...ids.map(() => 1 / 256)]),
          advantages: Float32Array.from([...pad, ...ids.map((id) => (id % 2 ? 1 : -1))]),
          oldLogprobs: Float32Array.from([...pad, ...logprobs]),
        },
      };
    });
    await engine.forwardBackward(batchOf(rows), objective, { temperature: 1 });
    await engine.optimStep({
      learningRate: 1e-4,
      beta1: 0.9,
      beta2: 0.98,
      epsilon: 1e-8,
      weightDecay: 0,
      clipNorm: 1,
    });
    await engine.publish();
    heap.collectIfGrown();
    const isEarly = step >= 100 && step < 100 + weighings;
    const isLate = step >= steps - weighings;
    if (isEarly) earlyMegabytes += resident() / weighings;
    if (isLate) lateMegabytes += resident() / weighings;
    if ((step + 1) % 1000 === 0)
      process.stderr.write(`${step + 1}/${steps} steps: ${Math.round(resident())} MB\n`);
  }
  await engine.close();
  return { steps, earlyMegabytes, lateMegabytes, growth: lateMegabytes / earlyMegabytes - 1 };
}

parentPort!.postMessage(await measure(workerData as number));
