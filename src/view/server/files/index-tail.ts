/** `rollouts/index.bin` as somebody reads it who watches: of what is appended, which steps and evaluations it is about. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { IndexRecord, recordBytes } from '../../../store/rollouts/index-record.ts';
import { headerBytes } from '../../../store/rollouts/rollout-index.ts';
import { isEvaluation, type Shard, stepOfShard } from '../../../store/rollouts/shard-names.ts';

/** Steps whose episodes were stored, and steps after which an evaluation was. */
export interface GrownPlaces {
  readonly steps?: readonly number[];
  readonly evaluations?: readonly number[];
}

export class IndexTail {
  readonly #path: string;
  #offset: number | undefined;
  #inode: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * What was appended since the last call; undefined where nothing was, empty where it is another file. The first call tells
   * of the last record: it may be younger than what the caller knows.
   */
  next(): GrownPlaces | undefined {
    let file: number;
    try {
      file = openSync(this.#path, 'r');
    } catch {
      return undefined;
    }
    try {
      const { ino, size } = fstatSync(file);
      const end = size - Math.max(0, (size - headerBytes) % recordBytes);
      const from = this.#offset ?? Math.max(headerBytes, end - recordBytes);
      const isOther = end < from || (this.#inode !== undefined && ino !== this.#inode);
      [this.#offset, this.#inode] = [end, ino];
      if (isOther) return {};
      if (end === from) return undefined;
      const bytes = Buffer.allocUnsafe(end - from);
      readSync(file, bytes, 0, bytes.length, from);
      return placesIn(new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
    } finally {
      closeSync(file);
    }
  }
}

function placesIn(records: DataView): GrownPlaces {
  const shards = new Set<Shard>();
  for (let at = 0; at < records.byteLength; at += recordBytes) {
    shards.add(new IndexRecord(records, at).shard);
  }
  const stepsOf = (wanted: boolean): number[] =>
    [...shards]
      .filter((shard) => isEvaluation(shard) === wanted)
      .flatMap((shard) => stepOfShard(shard) ?? []);
  return { steps: stepsOf(false), evaluations: stepsOf(true) };
}
