/**
 * Which steps and evaluations of a run are stored, from its index and the names of its files alone: a long run has ten
 * thousand files, and asking each for its size takes longer than everything else that a page begins with.
 */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readIndex } from '../../../store/rollouts/index-file.ts';
import type { RolloutIndex } from '../../../store/rollouts/rollout-index.ts';
import {
  isEvaluation,
  type Shard,
  shardFile,
  shardsIn,
  stepOfShard,
} from '../../../store/rollouts/shard-names.ts';

export interface StoredPlaces {
  readonly index: RolloutIndex;
  /** Steps of training, oldest first. */
  readonly steps: readonly number[];
  readonly evaluationSteps: readonly number[];
}

/**
 * Undefined where the index has not all files: where it is missing, or a process was killed between an episode and its record.
 * A process writes one file after another, so only the last one can have episodes that the index lacks.
 */
export function placesIn(folder: string, indexPath: string): StoredPlaces | undefined {
  const index = readIndex(indexPath);
  if (!index) return undefined;
  const ends = index.ends();
  if (!shardsIn(folder).every((shard) => ends.has(shard))) return undefined;
  const last = [...ends].at(-1);
  if (last === undefined) return placesOf(index, ends);
  const size = statSync(join(folder, shardFile(last[0])), { throwIfNoEntry: false })?.size;
  return size === last[1] ? placesOf(index, ends) : undefined;
}

/** Those of an index that is known to be whole. */
export function placesOf(
  index: RolloutIndex,
  ends: ReadonlyMap<Shard, number> = index.ends(),
): StoredPlaces {
  const stepsOf = (wanted: (shard: Shard) => boolean): number[] =>
    [...ends.keys()]
      .filter(wanted)
      .flatMap((shard) => stepOfShard(shard) ?? [])
      .sort((a, b) => a - b);
  return {
    index,
    steps: stepsOf((shard) => !isEvaluation(shard)),
    evaluationSteps: stepsOf(isEvaluation),
  };
}
