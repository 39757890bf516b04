/** Little-endian fields of a file from its beginning on, through a window: never more in memory than the longest field. */

import { readSync } from 'node:fs';
import { damaged } from './gguf-errors.ts';

/** The format's own limit is the file; a longer header is damage, or an attack. */
export const MAXIMUM_HEADER_BYTES = 100_000_000;

const WINDOW_BYTES = 2 ** 20;

export class ByteReader {
  /** What is being read, for messages. */
  section = 'the header';
  readonly #descriptor: number;
  readonly #path: string;
  readonly #end: number;
  readonly #text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #window = Buffer.alloc(0);
  /** Where the window begins in the file, and where the next field begins in the window. */
  #start = 0;
  #at = 0;

  constructor(descriptor: number, path: string, fileBytes: number) {
    this.#descriptor = descriptor;
    this.#path = path;
    this.#end = Math.min(fileBytes, MAXIMUM_HEADER_BYTES);
  }

  get position(): number {
    return this.#start + this.#at;
  }

  /** Bytes that fields can still take. */
  get left(): number {
    return this.#end - this.position;
  }

  /** The next bytes; valid until the next call. */
  take(bytes: number): Buffer {
    if (bytes > this.left) throw this.#cut();
    if (this.#at + bytes > this.#window.length) this.#refill(bytes);
    const taken = this.#window.subarray(this.#at, this.#at + bytes);
    this.#at += bytes;
    return taken;
  }

  /** The next bytes, as many as there are up to this number, without going on. */
  peek(bytes: number): Buffer {
    const seen = this.take(Math.min(bytes, this.left));
    this.#at -= seen.length;
    return seen;
  }

  u32(): number {
    return this.take(4).readUInt32LE(0);
  }

  u64(): bigint {
    return this.take(8).readBigUInt64LE(0);
  }

  /**
   * A number of things of at least `each` bytes, which what is left of the file can hold.
   * @param problem what is wrong where it cannot
   */
  count(problem: string, each: number): number {
    const count = this.u64();
    if (count * BigInt(each) <= BigInt(this.left)) return Number(count);
    throw damaged(this.#path, problem, {
      seen: String(count),
      allowed: `at most ${Math.floor(this.left / each)}, as the file goes on for ${this.left} bytes`,
    });
  }

  /** @param what names it where it is broken: "a key" */
  string(what: string): string {
    const bytes = this.u64();
    if (bytes > BigInt(this.left)) {
      throw damaged(this.#path, `${what} is longer than the file, in ${this.section}`, {
        seen: `${bytes} bytes`,
        allowed: `at most ${this.left}`,
      });
    }
    const encoded = this.take(Number(bytes));
    try {
      return this.#text.decode(encoded);
    } catch {
      throw damaged(this.#path, `${what} is not UTF-8, in ${this.section}`, {
        seen: encoded.subarray(0, 16).toString('hex'),
      });
    }
  }

  #refill(bytes: number): void {
    this.#start = this.position;
    this.#at = 0;
    const wanted = Math.min(this.left, Math.max(bytes, WINDOW_BYTES));
    this.#window = Buffer.allocUnsafe(wanted);
    for (let done = 0; done < wanted; ) {
      const read = readSync(this.#descriptor, this.#window, done, wanted - done, this.#start + done);
      if (read === 0) throw this.#cut();
      done += read;
    }
  }

  #cut(): Error {
    if (this.#end === MAXIMUM_HEADER_BYTES) {
      return damaged(this.#path, 'the header is too long to be one', {
        allowed: `${MAXIMUM_HEADER_BYTES} bytes`,
      });
    }
    return damaged(this.#path, `the file ends inside ${this.section}`, { seen: `${this.#end} bytes` });
  }
}
