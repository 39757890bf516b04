/** Lanes in threads of their own. */

import type { Weights } from '../../model/checkpoint/safetensors.ts';
import type { DecoderShape } from '../../model/decoder/decoder.ts';
import type { Lane } from './sampling/sampling-lane.ts';
import type { TrainingLane } from './training/training-lane.ts';
import type { SharedParameters } from './weights/shared-parameters.ts';
import { type Hearer, WorkerLink } from './worker-link.ts';

export type LaneSettings =
  | {
      readonly kind: 'sampling';
      readonly shape: DecoderShape;
      readonly weights: Weights;
      readonly slots: number;
    }
  | {
      readonly kind: 'training';
      readonly shape: DecoderShape;
      readonly parameters: SharedParameters;
      readonly lane: number;
      readonly threads: number;
    };

export interface LaneCall {
  readonly id: number;
  readonly verb: string;
  readonly parameters: readonly unknown[];
  /** Whether it tells of what it does before it is done: its last parameter hears that. */
  readonly tells?: boolean;
}

const samplingVerbs = [
  'sample',
  'learnTexts',
  'finish',
  'release',
  'reset',
  'setWeights',
  'statistics',
] as const;
const trainingVerbs = [
  'addProgram',
  'forwardBackward',
  'settle',
  'clearGradients',
  'post',
  'collect',
  'apply',
  'restartOptimizer',
  'catchUp',
  'score',
  'freeze',
  'state',
  'restore',
] as const;

export function samplingLaneInThread(settings: LaneSettings & { readonly kind: 'sampling' }): Lane {
  return laneInThread<Lane>(settings, samplingVerbs);
}

export function trainingLaneInThread(settings: LaneSettings & { readonly kind: 'training' }): TrainingLane {
  return laneInThread<TrainingLane>(settings, trainingVerbs);
}

/** Every verb is a call to the thread. */
function laneInThread<L extends { close(): unknown }>(
  settings: LaneSettings,
  verbs: readonly Exclude<keyof L & string, 'close'>[],
): L {
  const entry = new URL('./lane-worker.js', import.meta.url);
  const link = new WorkerLink<LaneCall>(entry, { name: `turnwise-${settings.kind}`, workerData: settings });
  const call = (verb: string, parameters: readonly unknown[]): Promise<unknown> => {
    const heard = parameters.at(-1);
    if (typeof heard !== 'function') return link.call({ verb, parameters });
    return link.call({ verb, parameters: parameters.slice(0, -1), tells: true }, [], heard as Hearer);
  };
  const lane = Object.fromEntries(
    verbs.map((verb) => [verb, (...parameters: readonly unknown[]) => call(verb, parameters)]),
  );
  const close = async (): Promise<void> => {
    await call('close', []);
    await link.terminate();
  };
  return { ...lane, close } as unknown as L;
}
