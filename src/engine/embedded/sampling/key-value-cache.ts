/**
 * Keys and values of the tokens seen so far, one row a conversation, kept outside the graph: a decode step reads views
 * of these arrays and returns only what is new, so the cache itself is never copied.
 */

/** Slots are added this many at a time; every row of the cache has the same number. */
export const capacityStep = 64;

/** What a mask adds to the attention score of a slot that holds no token. */
const hidden = -1e9;

export interface CacheShape {
  readonly layers: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
}

export class KeyValueCache {
  readonly #shape: CacheShape;
  /** One array for each layer, laid out [rows, heads, capacity, headSize]; keys first, then values. */
  #stores: Float32Array[];
  /** [rows, capacity]: 0 where a slot holds a token. */
  #mask: Float32Array = new Float32Array(0);
  #lengths: number[] = [];
  #capacity: number = capacityStep;

  constructor(shape: CacheShape) {
    this.#shape = shape;
    this.#stores = Array.from({ length: 2 * shape.layers }, () => new Float32Array(0));
  }

  /** Tokens that a row can hold before the cache grows. */
  get capacity(): number {
    return this.#capacity;
  }

  get rows(): number {
    return this.#lengths.length;
  }

  get bytes(): number {
    return this.#stores.reduce((sum, store) => sum + store.byteLength, this.#mask.byteLength);
  }

  length(row: number): number {
    return this.#lengths[row]!;
  }

  /** The keys of `layer` in `rows` rows from `firstRow` on: a view of shape [rows, heads, capacity, headSize]. */
  keys(layer: number, firstRow: number, rows: number): Float32Array {
    return this.#view(this.#stores[layer]!, firstRow, rows, this.#rowSize());
  }

  values(layer: number, firstRow: number, rows: number): Float32Array {
    return this.#view(this.#stores[this.#shape.layers + layer]!, firstRow, rows, this.#rowSize());
  }

  /** What to add to attention scores, [rows, capacity]: 0 where a slot holds a token, very negative elsewhere. */
  mask(firstRow: number, rows: number): Float32Array {
    return this.#view(this.#mask, firstRow, rows, this.#capacity);
  }

  /** Makes sure that rows 0 to `rows` - 1 exist, each with room for `capacity` tokens. Growing gives up empty rows at the end. */
  reserve(rows: number, capacity: number): void {
    if (capacity > this.#capacity) this.#grow(Math.ceil(capacity / capacityStep) * capacityStep);
    if (rows <= this.rows) return;
    const needed = rows * this.#rowSize();
    if (this.#stores[0]!.length < needed) {
      // Half as much again, so that rows added one by one do not copy the cache each time.
      const roomRows = Math.max(rows, Math.ceil(this.rows * 1.5));
      this.#stores = this.#stores.map((store) => extended(store, roomRows * this.#rowSize()));
    }
    if (this.#mask.length < rows * this.#capacity)
      this.#mask = extended(this.#mask, Math.max(rows, Math.ceil(this.rows * 1.5)) * this.#capacity);
    this.#mask.fill(hidden, this.rows * this.#capacity, rows * this.#capacity);
    while (this.#lengths.length < rows) this.#lengths.push(0);
  }

  /** Appends `count` tokens to a row from `fresh`: per store, [batch, heads, tokens, headSize] at index `at`. */
  append(row: number, fresh: readonly Float32Array[], at: number, tokens: number, count: number): void {
    const { keyValueHeads, headSize } = this.#shape;
    const length = this.#lengths[row]!;
    for (let index = 0; index < this.#stores.length; index++) {
      const store = this.#stores[index]!;
      const source = fresh[index]!;
      for (let head = 0; head < keyValueHeads; head++) {
        const from = (at * keyValueHeads + head) * tokens * headSize;
        const to = ((row * keyValueHeads + head) * this.#capacity + length) * headSize;
        // Mostly one token: a view of it would take longer to make than to copy.
        for (let i = 0; i < count * headSize; i++) store[to + i] = source[from + i]!;
      }
    }
    this.#mask.fill(0, row * this.#capacity + length, row * this.#capacity + length + count);
    this.#lengths[row] = length + count;
  }

  /** Forgets all but the first `length` tokens of a row, which stays: while others are fed, a row may be forgotten. */
  truncate(row: number, length: number): void {
    if (length >= this.#lengths[row]!) return;
    this.#mask.fill(hidden, row * this.#capacity + length, row * this.#capacity + this.#lengths[row]!);
    this.#lengths[row] = length;
  }

  /** Row `to` holds the first `length` tokens of row `from`, and nothing else. */
  copy(from: number, to: number, length: number): void {
    const { keyValueHeads, headSize } = this.#shape;
    const kept = Math.min(length, this.#lengths[from]!);
    for (const store of this.#stores)
      for (let head = 0; head < keyValueHeads; head++) {
        const start = (from * keyValueHeads + head) * this.#capacity * headSize;
        store.copyWithin(
          (to * keyValueHeads + head) * this.#capacity * headSize,
          start,
          start + kept * headSize,
        );
      }
    this.#mask.fill(0, to * this.#capacity, to * this.#capacity + kept);
    this.#mask.fill(hidden, to * this.#capacity + kept, (to + 1) * this.#capacity);
    this.#lengths[to] = kept;
  }

  swap(a: number, b: number): void {
    if (a === b) return;
    const longest = Math.max(this.#lengths[a]!, this.#lengths[b]!);
    const { keyValueHeads, headSize } = this.#shape;
    for (const store of this.#stores) {
      for (let head = 0; head < keyValueHeads; head++) {
        const offset = (row: number): number => (row * keyValueHeads + head) * this.#capacity * headSize;
        swapRanges(store, offset(a), offset(b), longest * headSize);
      }
    }
    swapRanges(this.#mask, a * this.#capacity, b * this.#capacity, longest);
    [this.#lengths[a], this.#lengths[b]] = [this.#lengths[b]!, this.#lengths[a]!];
  }

  /** Forgets every row and returns to the first capacity; the memory is kept for the next rows. */
  clear(): void {
    this.#lengths = [];
    this.#capacity = capacityStep;
  }

  /** `clear`, and gives the memory back. */
  free(): void {
    this.clear();
    this.#stores = this.#stores.map(() => new Float32Array(0));
    this.#mask = new Float32Array(0);
  }

  #view(store: Float32Array, firstRow: number, rows: number, rowSize: number): Float32Array {
    return store.subarray(firstRow * rowSize, (firstRow + rows) * rowSize);
  }

  #rowSize(): number {
    return this.#shape.keyValueHeads * this.#capacity * this.#shape.headSize;
  }

  #grow(capacity: number): void {
    while (this.#lengths.at(-1) === 0) this.#lengths.pop();
    const before = this.#capacity;
    const { keyValueHeads, headSize } = this.#shape;
    this.#stores = this.#stores.map((store) => {
      const used = this.#lengths.map((length) => length * headSize);
      return respaced(store, used, keyValueHeads, before * headSize, capacity * headSize);
    });
    this.#mask = respaced(this.#mask, this.#lengths, 1, before, capacity);
    for (const [row, length] of this.#lengths.entries())
      this.#mask.fill(hidden, row * capacity + length, (row + 1) * capacity);
    this.#capacity = capacity;
  }
}

function extended(array: Float32Array, length: number): Float32Array {
  const longer = new Float32Array(length);
  longer.set(array);
  return longer;
}

/**
 * Each row's blocks of `before` numbers moved apart to blocks of `after`; in place, from the last block, where there is room.
 *
 * @param used of a row: how many numbers at the beginning of each of its blocks are kept
 */
function respaced(
  array: Float32Array,
  used: readonly number[],
  blocksPerRow: number,
  before: number,
  after: number,
): Float32Array {
  const needed = used.length * blocksPerRow * after;
  const target = array.length >= needed ? array : new Float32Array(needed);
  for (let row = used.length - 1; row >= 0; row--)
    for (let block = (row + 1) * blocksPerRow - 1; block >= row * blocksPerRow; block--) {
      const [from, to] = [block * before, block * before + used[row]!];
      if (target === array) array.copyWithin(block * after, from, to);
      else target.set(array.subarray(from, to), block * after);
    }
  return target;
}

/** One range waits here while the other takes its place: blocks move several times as fast as numbers one by one. */
let aside = new Float32Array(0);

function swapRanges(array: Float32Array, a: number, b: number, count: number): void {
  if (aside.length < count) aside = new Float32Array(2 * count);
  aside.set(array.subarray(a, a + count));
  array.copyWithin(a, b, b + count);
  array.set(aside.subarray(0, count), b);
}
