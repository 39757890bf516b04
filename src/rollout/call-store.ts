/**
 * Where the calls of one episode keep what they hold. Arrays of tokens are views into common buffers: one of its own takes
 * hundreds of bytes more, which is most of a turn of five tokens. Equal authors and sampling settings are kept once.
 */

import type { Author, Sampling } from '../core/episode.ts';

/** Longer arrays stay as they are: a buffer of their own costs them little. In tokens. */
const LONGEST = 1024;
/** In tokens. Buffers double from the first to the last of these, so that an episode of few turns wastes little. */
const FIRST = 64;
const LARGEST = 4096;

export class CallStore {
  #buffer = new ArrayBuffer(0);
  #used = 0;
  #author: Author | undefined;
  #sampling: Sampling | undefined;

  /** The same ids, in a buffer of the episode unless they are many. */
  ids(values: Int32Array): Int32Array {
    if (values.length > LONGEST) return values;
    const place = new Int32Array(...this.#place(values.length));
    place.set(values);
    return place;
  }

  /** The same numbers, in a buffer of the episode unless they are many. */
  numbers(values: Float32Array): Float32Array {
    if (values.length > LONGEST) return values;
    const place = new Float32Array(...this.#place(values.length));
    place.set(values);
    return place;
  }

  author(by: Author): Author {
    const last = this.#author;
    const same = last?.name === by.name && last.version === by.version && last.kind === by.kind;
    if (!same) this.#author = by;
    return same ? last : by;
  }

  /** @param maxTokens in place of those of `usual` */
  sampling(usual: Omit<Sampling, 'maxTokens'>, maxTokens: number): Sampling {
    const { temperature, topP, topK } = usual;
    const last = this.#sampling;
    const same =
      last?.maxTokens === maxTokens &&
      last.temperature === temperature &&
      last.topP === topP &&
      last.topK === topK;
    if (same) return last;
    this.#sampling = { ...usual, maxTokens };
    return this.#sampling;
  }

  #place(length: number): [buffer: ArrayBuffer, start: number, length: number] {
    if (this.#used + 4 * length > this.#buffer.byteLength) {
      const twice = this.#buffer.byteLength / 2;
      const tokens = Math.max(length, Math.min(LARGEST, Math.max(FIRST, twice)));
      this.#buffer = new ArrayBuffer(4 * tokens);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += 4 * length;
    return [this.#buffer, start, length];
  }
}
