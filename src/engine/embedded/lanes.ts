/** How an engine divides its threads: into lanes with one each where copies of the weights allow it. */

import type { Weight, Weights } from '../../model/checkpoint/safetensors.ts';
import type { EngineSettings } from './engine-settings.ts';
import { samplingLaneInThread, trainingLaneInThread } from './lane-thread.ts';
import { type Lane, SamplingLane } from './sampling/sampling-lane.ts';
import { Trainer } from './training/trainer.ts';
import { LocalTrainingLane } from './training/training-lane.ts';
import type { BaseModel } from './weights/base-model.ts';
import { shareParameters } from './weights/shared-parameters.ts';

/** Weights of more bytes than this are not copied for a second sampling lane, nor those of all training lanes together. */
const samplingLaneBytes = 2 ** 28;
const trainingLanesBytes = 2 ** 29;

const bytesOf = (weights: Weights): number =>
  [...weights.values()].reduce((total, { data }) => total + data.byteLength, 0);

/** Threads are started from what is built. */
const isBuilt = import.meta.url.endsWith('.js');

/**
 * One lane for each thread where threads are to be had and the weights are small enough to be copied: a step of few rows
 * is too short to be shared by two threads, but two lanes of half the rows each run side by side.
 */
export async function createSamplingLanes(
  base: BaseModel,
  { shape, lora, threads, slots }: EngineSettings,
  weights: Weights,
): Promise<Lane[]> {
  if (threads === 1 || lora !== undefined || bytesOf(weights) > samplingLaneBytes || !isBuilt)
    return [await SamplingLane.create({ shape, base, lora, threads }, weights, slots)];
  const settings = { kind: 'sampling', shape, weights, slots: Math.ceil(slots / threads) } as const;
  return Array.from({ length: threads }, () => samplingLaneInThread(settings));
}

/** As many lanes as divide the threads and may copy the weights; under LoRA one, since every lane would hold the base. */
export function createTrainer(
  base: BaseModel,
  settings: EngineSettings,
  weights: Map<string, Weight>,
): Trainer {
  const { shape, lora, threads, tokenBudget } = settings;
  let lanes = lora === undefined && isBuilt ? threads : 1;
  while (lanes > 1 && (threads % lanes > 0 || lanes * bytesOf(weights) > trainingLanesBytes)) lanes--;
  if (lanes === 1)
    return new Trainer([new LocalTrainingLane(shape, weights, { base, lora })], weights, tokenBudget);
  const parameters = shareParameters(weights, lanes);
  const inThread = (lane: number) =>
    trainingLaneInThread({ kind: 'training', shape, parameters, lane, threads: threads / lanes });
  return new Trainer(
    Array.from({ length: lanes }, (_, lane) => inThread(lane)),
    parameters.weights,
    tokenBudget,
  );
}
