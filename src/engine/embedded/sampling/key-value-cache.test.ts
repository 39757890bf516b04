import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyValueCache } from './key-value-cache.ts';

const shape = { layers: 2, keyValueHeads: 2, headSize: 3 };

/** New keys or values of one row, [1, heads, tokens, headSize], that tell where they belong. */
const fresh = (store: number, tokens: readonly number[]): Float32Array =>
  Float32Array.from({ length: shape.keyValueHeads * tokens.length * shape.headSize }, (_, index) => {
    const head = Math.floor(index / (tokens.length * shape.headSize));
    const token = tokens[Math.floor(index / shape.headSize) % tokens.length]!;
    return store * 1e6 + head * 1e5 + token * 10 + (index % shape.headSize);
  });

function append(cache: KeyValueCache, row: number, tokens: readonly number[]): void {
  cache.reserve(row + 1, (row < cache.rows ? cache.length(row) : 0) + tokens.length);
  const stores = [0, 1, 2, 3].map((store) => fresh(store, tokens));
  cache.append(row, stores, 0, tokens.length, tokens.length);
}

/** The tokens that a row holds, after checking that all layers and heads hold the same. */
function contents(cache: KeyValueCache, row: number): number[] {
  const mask = cache.mask(row, 1);
  const length = cache.length(row);
  expect(Array.from(mask, (value) => value === 0)).toEqual(
    Array.from({ length: cache.capacity }, (_, slot) => slot < length),
  );
  const views = [0, 1].flatMap((layer) => [cache.keys(layer, row, 1), cache.values(layer, row, 1)]);
  const stores = [0, 2, 1, 3];
  const first = Array.from({ length }, (_, slot) => Math.round(views[0]![slot * shape.headSize]! / 10));
  for (const [index, view] of views.entries()) {
    const expected = length === 0 ? new Float32Array(0) : fresh(stores[index]!, first);
    for (let head = 0; head < shape.keyValueHeads; head++) {
      const at = head * cache.capacity * shape.headSize;
      expect(view.slice(at, at + length * shape.headSize)).toEqual(
        expected.slice(head * length * shape.headSize, (head + 1) * length * shape.headSize),
      );
    }
  }
  return first;
}

describe('KeyValueCache', () => {
  it('holds what was appended through swaps, copies, cuts and growth', () => {
    const operation = fc.oneof(
      fc.record({
        kind: fc.constant('append' as const),
        row: fc.integer({ min: 0, max: 5 }),
        count: fc.integer({ min: 1, max: 50 }),
      }),
      fc.record({
        kind: fc.constant('swap' as const),
        row: fc.integer({ min: 0, max: 5 }),
        count: fc.integer({ min: 0, max: 5 }),
      }),
      fc.record({
        kind: fc.constant('truncate' as const),
        row: fc.integer({ min: 0, max: 5 }),
        count: fc.integer({ min: 0, max: 80 }),
      }),
      fc.record({
        kind: fc.constant('copy' as const),
        row: fc.integer({ min: 0, max: 5 }),
        count: fc.integer({ min: 0, max: 80 }),
      }),
      fc.record({ kind: fc.constant('clear' as const), row: fc.constant(0), count: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 25 }), (operations) => {
        const cache = new KeyValueCache(shape);
        let rows: number[][] = [];
        let next = 0;
        for (const { kind, row, count } of operations) {
          if (kind === 'clear') {
            cache.clear();
            rows = [];
            continue;
          }
          cache.reserve(row + 1, 0);
          while (rows.length < cache.rows) rows.push([]);
          if (kind === 'append') {
            const tokens = Array.from({ length: count }, () => next++ % 9000);
            append(cache, row, tokens);
            rows[row]!.push(...tokens);
          } else if (kind === 'copy') {
            const to = (row + 1) % 6;
            cache.reserve(to + 1, 0);
            while (rows.length < cache.rows) rows.push([]);
            cache.copy(row, to, count);
            rows[to] = rows[row]!.slice(0, count);
          } else if (kind === 'truncate') {
            cache.truncate(row, count);
            rows[row]!.length = Math.min(count, rows[row]!.length);
          } else {
            cache.reserve(count + 1, 0);
            while (rows.length < cache.rows) rows.push([]);
            cache.swap(row, count);
            [rows[row], rows[count]] = [rows[count]!, rows[row]!];
          }
        }
        expect(rows.slice(cache.rows).flat()).toEqual([]);
        for (const [row, tokens] of rows.slice(0, cache.rows).entries())
          expect(contents(cache, row)).toEqual(tokens);
      }),
      { numRuns: 150 },
    );
  });

  it('gives views of consecutive rows, not copies', () => {
    const cache = new KeyValueCache(shape);
    append(cache, 0, [1]);
    append(cache, 1, [2]);
    expect(cache.keys(1, 0, 2).buffer).toBe(cache.keys(1, 1, 1).buffer);
    expect(cache.keys(1, 1, 1)[0]).toBe(1e6 + 20);
  });

  it('makes room for a long row in that of rows at the end that were given up', () => {
    const cache = new KeyValueCache(shape);
    for (let row = 0; row < 8; row++) append(cache, row, [row]);
    const { bytes } = cache;
    for (let row = 1; row < 8; row++) cache.truncate(row, 0);
    append(cache, 0, Array(400).fill(5));
    expect([cache.capacity, cache.bytes]).toEqual([448, bytes]);
    append(cache, 3, [9]);
    expect([1, 2, 3].map((row) => contents(cache, row))).toEqual([[], [], [9]]);
  });

  it('keeps the rows that are being fed, whatever row is forgotten meanwhile', () => {
    const cache = new KeyValueCache(shape);
    append(cache, 0, [1, 2]);
    cache.reserve(3, 2);
    cache.truncate(0, 0);
    cache.append(
      2,
      [0, 1, 2, 3].map((store) => fresh(store, [7, 8])),
      0,
      2,
      2,
    );
    expect([0, 1, 2].map((row) => contents(cache, row))).toEqual([[], [], [7, 8]]);
  });

  it('keeps its memory when cleared, returns to the first capacity, and gives the memory back when freed', () => {
    const cache = new KeyValueCache(shape);
    append(cache, 0, Array(65).fill(1));
    expect(cache.capacity).toBe(128);
    const { bytes } = cache;
    cache.clear();
    expect([cache.capacity, cache.rows, cache.bytes]).toEqual([64, 0, bytes]);
    append(cache, 1, [4]);
    expect(cache.bytes).toBe(bytes);
    cache.free();
    expect(cache.bytes).toBe(0);
  });
});
