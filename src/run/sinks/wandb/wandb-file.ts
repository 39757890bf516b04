/**
 * The file of a W&B run: a header, then records in LevelDB's log format, blocks of 32 KiB counted from the file's start. A
 * record that does not fit is cut: each part has its own checksum, length and type.
 */

import { appendFileSync, statSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

import { Message } from '../message.ts';

const header = Uint8Array.of(0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0x00);
/** The version of W&B that writes such records. */
const producer = '0.31.0';
const blockBytes = 32768;
const partHeadBytes = 7;
const whole = 1;
const first = 2;
const middle = 3;
const last = 4;

/** The bytes of a record that begins at byte `at` of the file. */
export function logParts(data: Uint8Array, at: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let position = at;
  let from = 0;
  let isFirst = true;
  for (let ends = false; !ends; ) {
    const left = blockBytes - (position % blockBytes);
    if (left < partHeadBytes) {
      parts.push(new Uint8Array(left));
      position += left;
      continue;
    }
    const bytes = data.subarray(from, from + left - partHeadBytes);
    ends = from + bytes.length === data.length;
    const type = isFirst ? (ends ? whole : first) : ends ? last : middle;
    const part = Buffer.concat([new Uint8Array(partHeadBytes), bytes]);
    part.writeUInt16LE(bytes.length, 4);
    part.writeUInt8(type, 6);
    part.writeUInt32LE(crc32(part.subarray(6)), 0);
    parts.push(part);
    position += partHeadBytes + bytes.length;
    from += bytes.length;
    isFirst = false;
  }
  return Buffer.concat(parts);
}

export class WandbFile {
  readonly #path: string;
  #records = 0;

  /** Begin the file anew. */
  constructor(path: string) {
    this.#path = path;
    writeFileSync(path, header);
    this.add((record) => record.inner(21, (head) => head.inner(1, (version) => version.text(1, producer))));
  }

  /** @param write fills one field of a record */
  add(write: (record: Message) => unknown): void {
    const record = new Message().int(1, ++this.#records);
    write(record);
    appendFileSync(this.#path, logParts(record.finish(), statSync(this.#path).size));
  }
}
