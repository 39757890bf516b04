/** What the engine's part of a checkpoint holds, whoever writes it where. */

import type { Weights } from '../../../model/checkpoint/safetensors.ts';
import type { AdamState } from '../training/adam.ts';

export interface Checkpoint {
  /** What is trained: under LoRA the adapter, and a value head. */
  readonly weights: Weights;
  readonly adam: AdamState;
  readonly frozen: Weights | undefined;
  /** Version of the policy. */
  readonly version: number;
}

export interface CheckpointFile {
  readonly tensors: Weights;
  readonly metadata: Readonly<Record<string, string>>;
}

export const modelFile = 'model.safetensors';
export const optimizerFile = 'optimizer.safetensors';
export const frozenFile = 'frozen.safetensors';

export const ownStep = (name: string): string => `step.${name}`;

/** The files of a model that is trained whole, by their names. */
export function modelFiles(checkpoint: Checkpoint): ReadonlyMap<string, CheckpointFile> {
  const { weights, frozen } = checkpoint;
  return new Map<string, CheckpointFile>([
    [modelFile, { tensors: weights, metadata: modelMetadata(checkpoint) }],
    [optimizerFile, optimizerTensors(checkpoint)],
    ...(frozen ? ([[frozenFile, { tensors: frozen, metadata: {} }]] as const) : []),
  ]);
}

export function modelMetadata({ version }: Checkpoint): Record<string, string> {
  return { version: String(version) };
}

export function optimizerTensors({ weights, adam }: Checkpoint): CheckpointFile {
  const moments = [...weights].flatMap(
    ([name, { shape }]) =>
      [
        [`first.${name}`, { shape, data: adam.first.get(name)! }],
        [`second.${name}`, { shape, data: adam.second.get(name)! }],
      ] as const,
  );
  return { tensors: new Map(moments), metadata: stepsMetadata(adam.steps) };
}

/** The most steps that a parameter has taken, and the steps of each that has taken fewer. */
function stepsMetadata(steps: AdamState['steps']): Record<string, string> {
  const most = Math.max(0, ...steps.values());
  const behind = [...steps].filter(([, step]) => step < most);
  return {
    step: String(most),
    ...Object.fromEntries(behind.map(([name, step]) => [ownStep(name), String(step)])),
  };
}
