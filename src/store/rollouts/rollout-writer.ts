/** Stores episodes while the run goes on: a step is compressed and written in the background, group by group. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Group, StepCredit } from '../../core/episode.ts';
import type { Disk } from '../disk.ts';
import { describeGroup } from './describe-episode.ts';
import { groupLines, type StoredEpisode } from './episode-line.ts';
import { IndexFile } from './index-file.ts';
import { writeRecord } from './index-record.ts';
import { indexName } from './reindex.ts';
import { compressHeader, compressLines, type ShardOrigin } from './shard.ts';
import { evaluationShard, recordedShard, type Shard, shardFile, trainingShard } from './shard-names.ts';

export interface RolloutWriterOptions extends ShardOrigin {
  /** Where the shards lie. */
  readonly folder: string;
  readonly generation: number;
  readonly disk: Disk;
  /** What a failed write is told as. */
  readonly failed: (error: unknown, path: string) => unknown;
}

/** The groups of an evaluation, played at temperature 1 and greedily. */
export interface EvaluationGroups {
  readonly sampled: readonly Group[];
  readonly greedy: readonly Group[];
}

interface LabelledGroup {
  readonly group: Group;
  readonly label?: 'sampled' | 'greedy';
}

/** Files that may wait to be written; then whoever writes waits, so that a slow disk fills no memory. */
const mayWait = 2;

export class RolloutWriter {
  readonly #options: RolloutWriterOptions;
  readonly #index: IndexFile;
  #last: Promise<void> = Promise.resolve();
  readonly #waiting: Promise<void>[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(options: RolloutWriterOptions) {
    this.#options = options;
    this.#index = new IndexFile(join(options.folder, indexName), options.disk);
  }

  /**
   * Store the groups of a training step; an earlier file of that step is replaced as a whole. Returns at once, unless two
   * files wait already.
   *
   * @throws TurnwiseError `disk-full`, `disk-failed`: of an earlier call
   */
  write(step: number, groups: readonly Group[], credit?: StepCredit): Promise<void> {
    const labelled = groups.map((group) => ({ group }));
    return this.#enqueue(trainingShard(step), labelled, credit);
  }

  /** Store the episodes of an evaluation after a step. Throws as `write`. */
  writeEvaluation(step: number, { sampled, greedy }: EvaluationGroups): Promise<void> {
    return this.#enqueue(evaluationShard(step), [
      ...sampled.map((group) => ({ group, label: 'sampled' as const })),
      ...greedy.map((group) => ({ group, label: 'greedy' as const })),
    ]);
  }

  /** Store recorded episodes that the run learns from. Throws as `write`. */
  writeRecorded(groups: readonly Group[]): Promise<void> {
    return this.#enqueue(
      recordedShard,
      groups.map((group) => ({ group })),
    );
  }

  /**
   * Wait until everything is on the device. A checkpoint waits for this.
   *
   * @throws TurnwiseError `disk-full`, `disk-failed`
   */
  async settled(): Promise<void> {
    await this.#last;
    this.#raise();
  }

  #raise(): void {
    if (this.#failure) throw this.#failure.error;
  }

  async #enqueue(shard: Shard, groups: readonly LabelledGroup[], credit?: StepCredit): Promise<void> {
    this.#raise();
    const written = this.#last.then(() => this.#store(shard, groups, credit));
    this.#last = written;
    this.#waiting.push(written);
    if (this.#waiting.length <= mayWait) return;
    await this.#waiting.shift();
    this.#raise();
  }

  /** Never rejects: what failed is raised where somebody waits. */
  async #store(
    shard: Shard,
    groups: readonly LabelledGroup[],
    credit: StepCredit | undefined,
  ): Promise<void> {
    if (this.#failure) return;
    const { folder, disk, failed } = this.#options;
    const path = join(folder, shardFile(shard));
    const temporary = `${path}.tmp`;
    try {
      disk.makeFolder(folder);
      const records: Uint8Array[] = [];
      await disk.writeChunks(temporary, this.#members(shard, groups, credit, records));
      const replaces = existsSync(path);
      disk.rename(temporary, path);
      await disk.flush(folder);
      if (replaces) this.#index.markReplaced((record) => record.shard === shard);
      this.#index.append(records);
    } catch (error) {
      this.#failure = { error: failed(error, path) };
    }
  }

  /** The members of a file; `records` is filled on the way. */
  async *#members(
    shard: Shard,
    groups: readonly LabelledGroup[],
    credit: StepCredit | undefined,
    records: Uint8Array[],
  ): AsyncIterable<Uint8Array> {
    const { world, tokenizer, generation } = this.#options;
    const header = await compressHeader({ world, tokenizer }, generation, credit);
    yield header;
    let offset = header.length;
    for (const { group, label } of groups) {
      if (group.members.length === 0) continue;
      const stored: StoredEpisode[] = group.members.map((episode) => ({
        episode,
        ...(label && { label }),
      }));
      const member = await compressLines(groupLines(group, label));
      for (const record of describeGroup(stored, shard, { offset, length: member.length })) {
        records.push(writeRecord(record));
      }
      yield member;
      offset += member.length;
      // The next group holds up nobody who waits for this thread.
      await nextTurn();
    }
  }
}
