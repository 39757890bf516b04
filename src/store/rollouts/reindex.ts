/**
 * The index made from the shards: whole where it is missing or foreign, and for single files that a process was killed
 * before it could index.
 */

import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Generation, isReplacedShard } from '../generations.ts';
import { describeGroup } from './describe-episode.ts';
import { type IndexFile, readIndex } from './index-file.ts';
import { writeRecord } from './index-record.ts';
import { RolloutIndex } from './rollout-index.ts';
import { headerOf, membersOf, type ShardHeader } from './shard.ts';
import { type Shard, shardFile, shardsIn } from './shard-names.ts';

/** Name of the index in the folder of the shards. */
export const indexName = 'index.bin';

/** Enough for a header, however long the options of the world are. */
const headReadBytes = 256 * 1024;

/** The index of a folder of shards, read where it can be and made anew where it cannot; nothing is written. */
export function openIndex(folder: string, generations: readonly Generation[]): RolloutIndex {
  const index = readIndex(join(folder, indexName));
  if (!index) return RolloutIndex.of(recordsOf(folder, shardsIn(folder), generations));
  const missing = notIndexed(folder, index, generations);
  if (missing.length === 0) return index;
  const kept = Array.from(index.current()).filter(({ shard }) => !missing.includes(shard));
  return RolloutIndex.of([...kept.map(writeRecord), ...recordsOf(folder, missing, generations)]);
}

/** Write the index of a folder anew. @returns how many records it has */
export function rebuildIndex(file: IndexFile, folder: string, generations: readonly Generation[]): number {
  const records = recordsOf(folder, shardsIn(folder), generations);
  file.write(records);
  return records.length;
}

/** Make the index of a folder whole before more is appended. */
export function repairIndex(file: IndexFile, folder: string, generations: readonly Generation[]): void {
  const index = readIndex(file.path);
  if (!index) {
    if (shardsIn(folder).length > 0) rebuildIndex(file, folder, generations);
    return;
  }
  const missing = notIndexed(folder, index, generations);
  if (missing.length === 0) return;
  file.markReplaced(({ shard }) => missing.includes(shard));
  file.append(recordsOf(folder, missing, generations));
}

/** Shards of the present generation whose records do not end where the file ends. */
function notIndexed(folder: string, index: RolloutIndex, generations: readonly Generation[]): Shard[] {
  const ends = index.ends();
  return shardsIn(folder).filter((shard) => {
    const path = join(folder, shardFile(shard));
    if (ends.get(shard) === statSync(path).size) return false;
    const header = readHeader(path);
    return header !== undefined && !isReplacedShard(generations, shard, header.generation);
  });
}

function recordsOf(
  folder: string,
  shards: readonly Shard[],
  generations: readonly Generation[],
): Uint8Array[] {
  return shards.flatMap((shard) => {
    const name = shardFile(shard);
    const bytes = readFileSync(join(folder, name));
    const header = headerOf(bytes);
    if (!header || isReplacedShard(generations, shard, header.generation)) return [];
    return Array.from(membersOf(bytes, name)).flatMap((member) =>
      describeGroup(member.episodes, shard, member).map(writeRecord),
    );
  });
}

/** The header of a file; undefined where it has none that this version reads. */
export function readHeader(path: string): ShardHeader | undefined {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(headReadBytes);
    const length = readSync(file, buffer, 0, headReadBytes, 0);
    const header = headerOf(buffer.subarray(0, length));
    // The state of a credit method may be long.
    return header || length < headReadBytes ? header : headerOf(readFileSync(path));
  } finally {
    closeSync(file);
  }
}
