/** Entry of a lane's thread: takes calls, runs them on the lane, and answers each by its number. */

import { parentPort, workerData } from 'node:worker_threads';
import { BaseModel } from './base-model.ts';
import type { LaneCall, LaneSettings } from './lane-thread.ts';
import { SamplingLane } from './sampling-lane.ts';
import { type Answer, describeError } from './worker-messages.ts';

const port = parentPort!;
const { shape, weights, slots } = workerData as LaneSettings;
const base = new BaseModel(new Map(), 'none', 1);
const started = SamplingLane.create({ shape, base, threads: 1 }, weights, slots);

port.on('message', async ({ id, verb, parameters }: LaneCall) => {
  let answer: Answer;
  try {
    const lane = await started;
    answer = { id, value: await Reflect.apply(lane[verb], lane, parameters) };
  } catch (error) {
    answer = { id, error: describeError(error) };
  }
  port.postMessage(answer);
  if (verb === 'close') port.close();
});
