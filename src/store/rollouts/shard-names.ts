/** Files of stored episodes: how they are called, and the number by which the index knows them. */

import { readdirSync } from 'node:fs';

/**
 * A shard in 32 bits: of a training step its number, of an evaluation the number of its step with the top bit set, of
 * recorded episodes that a run learns from the bit below alone.
 */
export type Shard = number;

const evaluationBit = 2 ** 31;
const recordedBit = 2 ** 30;

export const trainingShard = (step: number): Shard => step;
export const evaluationShard = (step: number): Shard => evaluationBit + step;
export const recordedShard: Shard = recordedBit;

/** The step in its file name; undefined for recorded episodes. */
export function stepOfShard(shard: Shard): number | undefined {
  return shard === recordedShard ? undefined : shard % evaluationBit;
}

export const isEvaluation = (shard: Shard): boolean => shard >= evaluationBit;

export function shardFile(shard: Shard): string {
  if (shard === recordedShard) return 'recorded.jsonl.gz';
  return `${isEvaluation(shard) ? 'evaluation-' : ''}${stepOfShard(shard)}.jsonl.gz`;
}

/** The shard of a file name; undefined where it is none. */
export function shardOf(file: string): Shard | undefined {
  if (file === shardFile(recordedShard)) return recordedShard;
  const [, evaluation, digits] = /^(evaluation-)?(0|[1-9]\d{0,8})\.jsonl\.gz$/.exec(file) ?? [];
  if (digits === undefined) return undefined;
  return evaluation === undefined ? trainingShard(Number(digits)) : evaluationShard(Number(digits));
}

/** Shards in a folder: recorded ones, then training and evaluations by step. Empty where there is no folder. */
export function shardsIn(folder: string): Shard[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  const order = (shard: Shard): number => (stepOfShard(shard) ?? -1) * 2 + (isEvaluation(shard) ? 1 : 0);
  return names.flatMap((name) => shardOf(name) ?? []).sort((a, b) => order(a) - order(b));
}
