/** `rollouts/index.bin` as its one writer sees it: records are appended, and only flags ever change in place. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Disk } from '../disk.ts';
import { FLAGS, fieldOffsets, type IndexRecord, recordBytes } from './index-record.ts';
import { headerBytes, indexHeader, RolloutIndex } from './rollout-index.ts';

/** The index of a folder; undefined where there is none that this version reads. */
export function readIndex(path: string): RolloutIndex | undefined {
  return existsSync(path) ? RolloutIndex.parse(readFileSync(path)) : undefined;
}

export class IndexFile {
  readonly path: string;
  readonly #disk: Disk;

  constructor(path: string, disk: Disk) {
    this.path = path;
    this.#disk = disk;
  }

  /** The index as it is now; an empty one where there is none that can be read. */
  read(): RolloutIndex {
    return readIndex(this.path) ?? RolloutIndex.of([]);
  }

  /** Replace the whole file. */
  write(records: readonly Uint8Array[]): void {
    this.#disk.replaceFile(this.path, Buffer.concat([indexHeader(Date.now()), ...records]));
  }

  /** Add records; where they cannot be written the file ends where it ended before. */
  append(records: readonly Uint8Array[]): void {
    if (records.length === 0) return;
    const size = existsSync(this.path) ? statSync(this.path).size : 0;
    if (size < headerBytes) {
      this.write(records);
      return;
    }
    const whole = size - ((size - headerBytes) % recordBytes);
    try {
      // What a killed process left of a record.
      if (whole < size) this.#disk.truncate(this.path, whole);
      this.#disk.append(this.path, Buffer.concat(records));
    } catch (error) {
      if (statSync(this.path).size > whole) this.#disk.truncate(this.path, whole);
      throw error;
    }
  }

  /** Flag the records that a later generation, or a later file of the same name, stands for. */
  markReplaced(test: (record: IndexRecord) => boolean): void {
    const index = readIndex(this.path);
    if (!index) return;
    const changes = [];
    for (let row = 0; row < index.length; row++) {
      const record = index.record(row);
      if (record.has('replaced') || !test(record)) continue;
      const bytes = Buffer.alloc(2);
      bytes.writeUInt16LE(record.flags | FLAGS.replaced);
      changes.push({ at: headerBytes + row * recordBytes + fieldOffsets.flags, bytes });
    }
    if (changes.length > 0) this.#disk.patch(this.path, changes);
  }
}
