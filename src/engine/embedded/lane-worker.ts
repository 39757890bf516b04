/** Entry of a lane's thread: takes calls, runs them on the lane, and answers each by its number. */

import { parentPort, workerData } from 'node:worker_threads';
import { copyWeights } from '../../model/checkpoint/safetensors.ts';
import { HeapKeeper } from './heap-keeper.ts';
import type { LaneCall, LaneSettings } from './lane-thread.ts';
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

port.on('message', async ({ id, verb, parameters }: LaneCall) => {
  let answer: Answer;
  try {
    const lane = await started;
    const work = Reflect.get(lane, verb) as (...parameters: readonly unknown[]) => unknown;
    answer = { id, value: await Reflect.apply(work, lane, parameters) };
    if (verb === 'close') await base.release();
  } catch (error) {
    answer = { id, error: describeError(error) };
  }
  port.postMessage(answer);
  heap.collectIfGrown();
  if (verb === 'close') port.close();
});
