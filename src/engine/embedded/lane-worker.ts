/** Entry of a lane's thread: takes calls, runs them on the lane, and answers each by its number. */

import { parentPort, workerData } from 'node:worker_threads';
import { copyWeights } from '../../model/checkpoint/safetensors.ts';
import { HeapKeeper } from './heap-keeper.ts';
import type { LaneCall, LaneSettings } from './lane-thread.ts';
import { Outbox } from './outbox.ts';
import { SamplingLane } from './sampling/sampling-lane.ts';
import { LocalTrainingLane } from './training/training-lane.ts';
import { BaseModel } from './weights/base-model.ts';
import { type Answer, describeError } from './worker-messages.ts';

const port = parentPort!;
const heap = new HeapKeeper();
const settings = workerData as LaneSettings;
const base = new BaseModel(new Map(), 'none', settings.kind === 'training' ? settings.threads : 1);
base.retain();
const started = startLane();

async function startLane(): Promise<object> {
  const { shape } = settings;
  if (settings.kind === 'sampling')
    return SamplingLane.create({ shape, base, threads: 1 }, settings.weights, settings.slots);
  const { parameters, lane } = settings;
  return new LocalTrainingLane(shape, copyWeights(parameters.weights), {
    base,
    shared: { parameters, lane },
  });
}

const outbox = new Outbox<Answer>((answers) => {
  port.postMessage(answers);
  heap.collectIfGrown();
});

async function serve({ id, verb, parameters, tells }: LaneCall): Promise<void> {
  try {
    const lane = await started;
    const work = Reflect.get(lane, verb) as (...parameters: readonly unknown[]) => unknown;
    const tell = (told: unknown): void => outbox.push({ id, told });
    const value = await Reflect.apply(work, lane, tells ? [...parameters, tell] : parameters);
    if (verb === 'close') await base.release();
    outbox.push({ id, value });
  } catch (error) {
    outbox.push({ id, error: describeError(error) });
  }
  if (verb === 'close') setImmediate(() => port.close());
}

port.on('message', (calls: readonly LaneCall[]) => {
  for (const call of calls) void serve(call);
});
