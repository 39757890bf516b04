/** `rollouts/index.bin` in memory: which episodes there are, and which records of one episode count. Knows no shards. */

import { fieldOffsets, IndexRecord, recordBytes } from './index-record.ts';
import { isEvaluation, type Shard, stepOfShard } from './shard-names.ts';

export const headerBytes = 64;
const magic = 'TWIX';
const version = 1;

/** The first 64 bytes of the file. @param created milliseconds since 1970 */
export function indexHeader(created: number): Uint8Array {
  const bytes = new Uint8Array(headerBytes);
  bytes.set(Buffer.from(magic, 'latin1'));
  const view = new DataView(bytes.buffer);
  view.setUint16(4, version, true);
  view.setUint16(6, recordBytes, true);
  view.setBigUint64(8, BigInt(Math.round(created)), true);
  return bytes;
}

/** An index as it was when it was read. A record that a killed process left unfinished is not in it. */
export class RolloutIndex {
  readonly length: number;
  readonly #view: DataView;

  private constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.length = Math.floor((bytes.length - headerBytes) / recordBytes);
  }

  /** Undefined where these are not the bytes of an index that this version reads. */
  static parse(bytes: Uint8Array): RolloutIndex | undefined {
    const head = Buffer.from(bytes.subarray(0, headerBytes));
    if (head.length < headerBytes || head.toString('latin1', 0, 4) !== magic) return undefined;
    const known = head.readUInt16LE(4) === version && head.readUInt16LE(6) === recordBytes;
    return known ? new RolloutIndex(bytes) : undefined;
  }

  static of(records: readonly Uint8Array[]): RolloutIndex {
    return new RolloutIndex(Buffer.concat([indexHeader(0), ...records]));
  }

  record(row: number): IndexRecord {
    return new IndexRecord(this.#view, headerBytes + row * recordBytes);
  }

  /** The record as it is in the file. */
  bytes(row: number): Uint8Array {
    const start = this.#view.byteOffset + headerBytes + row * recordBytes;
    return new Uint8Array(this.#view.buffer, start, recordBytes);
  }

  /** Records that are not replaced, in the order in which they were written. */
  *current(): Iterable<IndexRecord> {
    for (let row = 0; row < this.length; row++) {
      const record = this.record(row);
      if (!record.has('replaced')) yield record;
    }
  }

  /** Records that count: not replaced, and the last of their key, role and label. In the order of writing. */
  filter(test: (record: IndexRecord) => boolean = () => true): IndexRecord[] {
    const counts = this.#countingRows();
    const found: IndexRecord[] = [];
    for (let row = 0; row < this.length; row++) {
      if (counts[row] === 0) continue;
      const record = this.record(row);
      if (test(record)) found.push(record);
    }
    return found;
  }

  /** Records of the groups of one file, in order. A member that joined a later group too is here all the same. */
  inShard(shard: Shard): IndexRecord[] {
    const found: IndexRecord[] = [];
    // Most records are of other files, and no objects are made of them.
    for (let row = 0; row < this.length; row++) {
      if (this.#shardAt(row) !== shard) continue;
      const record = this.record(row);
      if (!record.has('replaced')) found.push(record);
    }
    return found;
  }

  /** Steps of training that are stored, oldest first. */
  steps(): number[] {
    return this.#stepsOf((shard) => !isEvaluation(shard));
  }

  evaluationSteps(): number[] {
    return this.#stepsOf(isEvaluation);
  }

  /** Files of records that are not replaced, in the order of writing, and where in each its last group ends. */
  ends(): Map<Shard, number> {
    const ends = new Map<Shard, number>();
    let before = -1;
    for (let row = this.length - 1; row >= 0; row--) {
      const shard = this.#shardAt(row);
      // Records of one file follow each other, and the last one is that of its last group.
      if (shard === before) continue;
      const record = this.record(row);
      if (record.has('replaced')) continue;
      before = shard;
      ends.set(shard, Math.max(ends.get(shard) ?? 0, record.offset + record.length));
    }
    return new Map([...ends].reverse());
  }

  #shardAt(row: number): Shard {
    return this.#view.getUint32(headerBytes + row * recordBytes + fieldOffsets.shard, true);
  }

  #stepsOf(wanted: (shard: Shard) => boolean): number[] {
    return [...this.ends().keys()]
      .filter(wanted)
      .flatMap((shard) => stepOfShard(shard) ?? [])
      .sort((a, b) => a - b);
  }

  /** 1 for each row that counts. From the last to the first, the first of a key that is met wins. */
  #countingRows(): Uint8Array {
    const counts = new Uint8Array(this.length);
    // Rows by key, plus one, in a table that is at most half full: objects and strings for keys take ten times as long.
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, 2 * this.length)));
    const table = new Int32Array(size);
    for (let row = this.length - 1; row >= 0; row--) {
      const record = this.record(row);
      if (record.has('replaced')) continue;
      let slot = hashOf(record) & (size - 1);
      while (table[slot] !== 0 && !isSameKey(record, this.record(table[slot]! - 1))) {
        slot = (slot + 1) & (size - 1);
      }
      if (table[slot] !== 0) continue;
      table[slot] = row + 1;
      counts[row] = 1;
    }
    return counts;
  }
}

function hashOf({ step, group, member, roleByte }: IndexRecord): number {
  let hash = Math.imul(step, 0x9e3779b1) ^ Math.imul(group, 0x85ebca6b);
  hash ^= Math.imul((member << 8) | roleByte, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function isSameKey(a: IndexRecord, b: IndexRecord): boolean {
  return a.step === b.step && a.group === b.group && a.member === b.member && a.roleByte === b.roleByte;
}
