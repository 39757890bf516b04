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
  const shards = new Set<Shard>();
  let last = { shard: -1, end: 0 };
  for (const { shard, offset, length } of index.current()) {
    shards.add(shard);
    last = { shard, end: offset + length };
  }
  if (!shardsIn(folder).every((shard) => shards.has(shard))) return undefined;
  const size = statSync(join(folder, shardFile(last.shard)), { throwIfNoEntry: false })?.size;
  return size === last.end || shards.size === 0 ? placesOf(index, shards) : undefined;
}

/** Those of an index that is known to be whole. */
export function placesOf(
  index: RolloutIndex,
  shards: ReadonlySet<Shard> = new Set(Array.from(index.current(), ({ shard }) => shard)),
): StoredPlaces {
  const stepsOf = (wanted: (shard: Shard) => boolean): number[] =>
    [...shards]
      .filter(wanted)
      .flatMap((shard) => stepOfShard(shard) ?? [])
      .sort((a, b) => a - b);
  return {
    index,
    steps: stepsOf((shard) => !isEvaluation(shard)),
    evaluationSteps: stepsOf(isEvaluation),
  };
}
