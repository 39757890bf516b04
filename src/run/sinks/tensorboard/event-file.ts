/** Files of TensorBoard: records with their length and two checksums, in a file that only grows. */

import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Message } from '../message.ts';

const prefix = 'events.out.tfevents.';

/** CRC-32C, reflected. */
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** A checksum of bytes that may hold checksums themselves. */
export function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** u64 length, u32 checksum of it, the data, u32 checksum of the data; little-endian. */
export function record(data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(16 + data.length);
  bytes.writeBigUInt64LE(BigInt(data.length), 0);
  bytes.writeUInt32LE(maskedCrc(bytes.subarray(0, 8)), 8);
  bytes.set(data, 12);
  bytes.writeUInt32LE(maskedCrc(data), 12 + data.length);
  return bytes;
}

/** `write` fills an event: 5 is its summary, 7 its session log. */
export function eventRecord(seconds: number, write: (event: Message) => unknown): Uint8Array {
  const event = new Message().double(1, seconds);
  write(event);
  return record(event.finish());
}

export class EventFile {
  readonly #path: string;

  /**
   * Begin a file. Readers take files in the order of their names, and forget what earlier ones hold from `step` on; what
   * follows a cut record is lost, so that no file is ever gone on with.
   */
  constructor(folder: string, step: number) {
    mkdirSync(folder, { recursive: true });
    const seconds = Math.max(Math.floor(Date.now() / 1000), lastSeconds(folder) + 1);
    this.#path = join(folder, `${prefix}${seconds}.${hostname()}.${process.pid}.0`);
    this.#append(eventRecord(Date.now() / 1000, (event) => event.text(3, 'brain.Event:2')));
    this.#append(
      eventRecord(Date.now() / 1000, (event) => event.int(2, step).inner(7, (log) => log.int(1, 1))),
    );
  }

  /** One event with the summaries of a step. */
  summaries(time: number, step: number, write: (summary: Message) => unknown): void {
    this.#append(eventRecord(time / 1000, (event) => event.int(2, step).inner(5, write)));
  }

  #append(bytes: Uint8Array): void {
    appendFileSync(this.#path, bytes);
  }
}

function lastSeconds(folder: string): number {
  const seconds = readdirSync(folder).map((name) =>
    name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : 0,
  );
  return Math.max(0, ...seconds);
}
