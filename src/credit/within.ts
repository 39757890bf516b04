/** Numbers compared with the others that share a key: many small groups in one pass, without a list for each. */

/** A key for each item, as consecutive numbers from 0; -1 belongs to no group. */
export interface Partition {
  readonly keys: Int32Array;
  readonly count: number;
}

export interface Comparison {
  /** What differences from the mean are divided by: sample std + ε, population std + ε, or 1. */
  readonly spread: 'sample' | 'population' | 'none';
  readonly epsilon: number;
  /** What a number alone under its key becomes: 0, or itself. */
  readonly single?: 'zero' | 'keep';
}

/** Items with equal keys share a part. */
export function partition<Item>(
  items: readonly Item[],
  keyOf: (item: Item, index: number) => string | number,
): Partition {
  const numbers = new Map<string | number, number>();
  const keys = new Int32Array(items.length);
  for (let index = 0; index < items.length; index++) {
    const key = keyOf(items[index]!, index);
    let number = numbers.get(key);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(key, number);
    }
    keys[index] = number;
  }
  return { keys, count: numbers.size };
}

/** Items share a part when they share it in both; an item that is in no part of either is in none. */
export function both(first: Partition, second: Partition): Partition {
  const size = first.keys.length;
  if (first.count * second.count <= 4 * size) return numberedPairs(first, second);
  const slots = 2 ** Math.ceil(Math.log2(2 * size + 2));
  // A hash table by open addressing in typed arrays, which allocates nothing for each of many turns.
  const pairOf = new Float64Array(slots).fill(-1);
  const numberOf = new Int32Array(slots);
  const keys = new Int32Array(size);
  let count = 0;
  for (let index = 0; index < size; index++) {
    const a = first.keys[index]!;
    const b = second.keys[index]!;
    if (a < 0 || b < 0) {
      keys[index] = -1;
      continue;
    }
    const pair = a * second.count + b;
    // Keys are consecutive numbers: their upper bits are mixed in, or neighbours crowd one stretch of the table.
    const mixed = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
    let slot = (mixed ^ (mixed >>> 15)) & (slots - 1);
    while (pairOf[slot] !== pair && pairOf[slot] !== -1) slot = (slot + 1) & (slots - 1);
    if (pairOf[slot] === -1) {
      pairOf[slot] = pair;
      numberOf[slot] = count++;
    }
    keys[index] = numberOf[slot]!;
  }
  return { keys, count };
}

/** Where there are few pairs at all: a table of all of them. */
function numberedPairs(first: Partition, second: Partition): Partition {
  const size = first.keys.length;
  const numberOf = new Int32Array(first.count * second.count).fill(-1);
  const keys = new Int32Array(size).fill(-1);
  let count = 0;
  for (let index = 0; index < size; index++) {
    const a = first.keys[index]!;
    const b = second.keys[index]!;
    if (a < 0 || b < 0) continue;
    const pair = a * second.count + b;
    if (numberOf[pair] === -1) numberOf[pair] = count++;
    keys[index] = numberOf[pair]!;
  }
  return { keys, count };
}

export interface Statistics {
  readonly counts: Int32Array;
  readonly means: Float64Array;
  /** Sums of squared differences from the mean. */
  readonly squares: Float64Array;
}

/** Per part, the count, the mean (exact where all its values are equal) and the spread. */
export function statisticsWithin(values: ArrayLike<number>, { keys, count }: Partition): Statistics {
  const counts = new Int32Array(count);
  const origins = new Float64Array(count);
  const means = new Float64Array(count);
  const squares = new Float64Array(count);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    if (key < 0) continue;
    if (counts[key]!++ === 0) origins[key] = values[index]!;
    means[key]! += values[index]! - origins[key]!;
  }
  for (let key = 0; key < count; key++) means[key] = origins[key]! + means[key]! / counts[key]!;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    if (key >= 0) squares[key]! += (values[index]! - means[key]!) ** 2;
  }
  return { counts, means, squares };
}

/** Spreads below this share of the mean are rounding: dividing by them would make differences out of none. */
const roundingShare = 1e-12;

/** Each value minus the mean of its part, divided by the part's spread; 0 where they differ by rounding alone. */
export function compareWithin(
  values: ArrayLike<number>,
  parts: Partition,
  { spread, epsilon, single = 'zero' }: Comparison,
): Float64Array {
  const { counts, means, squares } = statisticsWithin(values, parts);
  const scales = new Float64Array(parts.count).fill(1);
  if (spread !== 'none') {
    for (let key = 0; key < parts.count; key++) {
      const divisor = spread === 'sample' ? counts[key]! - 1 : counts[key]!;
      const deviation = Math.sqrt(squares[key]! / Math.max(1, divisor));
      scales[key] = deviation <= roundingShare * Math.abs(means[key]!) ? Infinity : deviation + epsilon;
    }
  }
  const results = new Float64Array(parts.keys.length);
  for (let index = 0; index < results.length; index++) {
    const key = parts.keys[index]!;
    if (key < 0) continue;
    if (counts[key] === 1) results[index] = single === 'keep' ? values[index]! : 0;
    else results[index] = (values[index]! - means[key]!) / scales[key]!;
  }
  return results;
}
