/**
 * Generations of a run: the first begins with its start, and every resume begins another. What an earlier one wrote after
 * the checkpoint that a later one went on from is replaced, and stays on disk until it is written again.
 */

import { type Shard, stepOfShard } from './rollouts/shard-names.ts';

export interface Generation {
  readonly generation: number;
  /** Step of the checkpoint it went on from; −1 where it began from nothing. */
  readonly from: number;
}

/** Whether a file that generation `writer` wrote belongs to a stretch that a later one replaced. */
export function isReplacedShard(generations: readonly Generation[], shard: Shard, writer: number): boolean {
  return generations.some(({ generation, from }) => generation > writer && isAfter(shard, from));
}

/** Whether a run that goes on from the checkpoint of step `from` writes this file again. */
export function isAfter(shard: Shard, from: number): boolean {
  // Recorded episodes are written before the first checkpoint.
  return (stepOfShard(shard) ?? 0) > from;
}
