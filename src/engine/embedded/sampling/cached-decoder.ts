/** The decoder with its cache as the scheduler sees it: rows that are fed tokens. */

import type { Feed } from '../../../graph/node/loaded-graph.ts';
import type { Weights } from '../../../model/checkpoint/safetensors.ts';
import type { DecoderShape } from '../../../model/decoder/decoder.ts';
import {
  createDecodeProgram,
  type DecodeProgram,
  type DecodeSource,
  setDecodeWeights,
} from './decode-program.ts';
import { KeyValueCache } from './key-value-cache.ts';
import type { RowDecoder } from './slots.ts';

const hidden = -1e9;

export class CachedDecoder implements RowDecoder {
  readonly #source: DecodeSource;
  readonly #shape: DecoderShape;
  readonly #cache: KeyValueCache;
  readonly #causal: Map<number, Float32Array> = new Map();
  readonly #outputs: readonly string[];
  #program: DecodeProgram;

  private constructor(source: DecodeSource, program: DecodeProgram) {
    const { shape } = source;
    this.#source = source;
    this.#shape = shape;
    this.#program = program;
    this.#cache = new KeyValueCache({
      layers: shape.layers,
      keyValueHeads: shape.keyValueHeads,
      headSize: shape.headWidth,
    });
    const layers = [...Array(shape.layers).keys()];
    this.#outputs = [
      'logits',
      ...layers.map((layer) => `newKeys.${layer}`),
      ...layers.map((layer) => `newValues.${layer}`),
    ];
  }

  /** A decoder with a copy of these trained weights. */
  static async create(source: DecodeSource, weights: Weights): Promise<CachedDecoder> {
    return new CachedDecoder(source, await createDecodeProgram(source, weights));
  }

  /** Goes on with a copy of these weights. The caches, which belong to the old ones, must have been cleared. */
  async setWeights(weights: Weights): Promise<void> {
    this.#program = await setDecodeWeights(this.#source, this.#program, weights);
  }

  get vocabulary(): number {
    return this.#shape.vocabulary;
  }

  get cacheBytes(): number {
    return this.#cache.bytes;
  }

  async step(firstRow: number, chunks: readonly Int32Array[]): Promise<Float32Array> {
    const rows = chunks.length;
    const tokens = Math.max(...chunks.map((chunk) => chunk.length));
    const cache = this.#cache;
    const existing = chunks.map((_, index) =>
      firstRow + index < cache.rows ? cache.length(firstRow + index) : 0,
    );
    const longest = Math.max(...chunks.map((chunk, index) => existing[index]! + chunk.length));
    cache.reserve(firstRow + rows, longest);

    const { layers, keyValueHeads, headWidth, heads, contextLength } = this.#shape;
    const ids = new Integers(rows * tokens);
    const positions = new Integers(rows * tokens);
    const last = new Integers(rows);
    const lastPositions = new Integers(rows);
    const lastMask = new Float32Array(rows * tokens);
    for (const [index, chunk] of chunks.entries()) {
      for (let token = 0; token < tokens; token++) {
        const at = index * tokens + token;
        // Padding has any id and a position inside the table; nothing reads what it computes.
        if (token < chunk.length) ids.set(at, chunk[token]!);
        else lastMask[at] = hidden;
        positions.set(at, Math.min(existing[index]! + token, contextLength - 1));
      }
      last.set(index, index * tokens + chunk.length - 1);
      lastPositions.set(index, existing[index]! + chunk.length - 1);
    }
    const group = heads / keyValueHeads;
    const feeds: Record<string, Feed> = {
      ...this.#program.feeds,
      ids: { data: ids.data, shape: [rows, tokens] },
      positions: { data: positions.data, shape: [rows, tokens] },
      last: { data: last.data, shape: [rows] },
      lastPositions: { data: lastPositions.data, shape: [rows, 1] },
      lastMask: { data: lastMask, shape: [rows, 1, 1, tokens] },
      mask: { data: cache.mask(firstRow, rows), shape: [rows, 1, 1, cache.capacity] },
    };
    // A decoder of one layer computes the last token only and has no use for the causal mask.
    if (layers > 1) feeds.causal = { data: this.#causalMask(group, tokens), shape: [group * tokens, tokens] };
    const cacheShape = [rows, keyValueHeads, cache.capacity, headWidth];
    for (let layer = 0; layer < layers; layer++) {
      feeds[`keys.${layer}`] = { data: cache.keys(layer, firstRow, rows), shape: cacheShape };
      feeds[`values.${layer}`] = { data: cache.values(layer, firstRow, rows), shape: cacheShape };
    }
    const results = await this.#program.session.run(feeds, this.#outputs);
    const fresh = this.#outputs.slice(1).map((name) => results[name]!);
    for (const [index, chunk] of chunks.entries())
      cache.append(firstRow + index, fresh, index, tokens, chunk.length);
    return results.logits!;
  }

  swap(a: number, b: number): void {
    this.#cache.reserve(Math.max(a, b) + 1, 0);
    this.#cache.swap(a, b);
  }

  truncate(row: number, length: number): void {
    if (row < this.#cache.rows) this.#cache.truncate(row, length);
  }

  copy(from: number, to: number, length: number): void {
    this.#cache.reserve(Math.max(from, to) + 1, 0);
    this.#cache.copy(from, to, length);
  }

  clear(): void {
    this.#cache.clear();
  }

  free(): void {
    this.#cache.free();
  }

  async close(): Promise<void> {
    this.#cache.free();
    await this.#program.close();
  }

  /** Causal masks below each other, one for each query head of a group. */
  #causalMask(group: number, tokens: number): Float32Array {
    const known = this.#causal.get(tokens);
    if (known !== undefined) return known;
    const mask = Float32Array.from({ length: group * tokens * tokens }, (_, index) =>
      index % tokens > Math.floor(index / tokens) % tokens ? hidden : 0,
    );
    this.#causal.set(tokens, mask);
    return mask;
  }
}

/** 64-bit integers that are not negative and below 2^31, written without making a BigInt of each. */
class Integers {
  readonly data: BigInt64Array;
  readonly #words: Int32Array;

  constructor(length: number) {
    this.data = new BigInt64Array(length);
    this.#words = new Int32Array(this.data.buffer);
  }

  set(index: number, value: number): void {
    this.#words[2 * index] = value;
  }
}
