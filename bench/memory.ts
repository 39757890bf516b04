/** Whether memory stays flat: a small model samples and trains ten thousand times, and the process is weighed on the way. */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface MemoryBench {
  readonly steps: number;
  /** Resident megabytes after the first hundred steps, and at the end: means over ten steps. */
  readonly earlyMegabytes: number;
  readonly lateMegabytes: number;
  readonly growth: number;
}

/** In a worker with a small young generation, as the engine is: V8 lets that of a main thread grow by 20 MB at any time. */
export async function benchMemory(steps = 10_000): Promise<MemoryBench> {
  const worker = new Worker(new URL('./memory-loop.js', import.meta.url), {
    workerData: steps,
    resourceLimits: { maxYoungGenerationSizeMb: 2 },
  });
  const [result] = (await once(worker, 'message')) as [MemoryBench];
  return result;
}
