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
  const keys = new Int32Array(first.keys.length).fill(-1);
  // Part by part of the second, a part of the first is new once: no table of pairs, and neighbours in memory stay so.
  const newestIn = new Int32Array(first.count).fill(-1);
  const numberOf = new Int32Array(first.count);
  let count = 0;
  for (const index of byPart(second)) {
    const a = first.keys[index]!;
    const b = second.keys[index]!;
    if (a < 0) continue;
    if (newestIn[a] !== b) {
      newestIn[a] = b;
      numberOf[a] = count++;
    }
    keys[index] = numberOf[a]!;
  }
  return { keys, count };
}

/** The parts that have more than one item; items alone in theirs are in none. */
export function withoutSingles({ keys, count }: Partition): Partition {
  const sizes = new Int32Array(count);
  for (let index = 0; index < keys.length; index++) if (keys[index]! >= 0) sizes[keys[index]!]!++;
  let kept = 0;
  for (let key = 0; key < count; key++) sizes[key] = sizes[key]! > 1 ? kept++ : -1;
  const left = new Int32Array(keys.length);
  for (let index = 0; index < keys.length; index++)
    left[index] = keys[index]! < 0 ? -1 : sizes[keys[index]!]!;
  return { keys: left, count: kept };
}

/** The items that are in a part, part after part: a counting sort. */
function byPart({ keys, count }: Partition): Int32Array {
  const ends = new Int32Array(count + 1);
  for (let index = 0; index < keys.length; index++) ends[keys[index]! + 1]!++;
  // Items in no part are counted at 0, and left out.
  ends[0] = 0;
  for (let part = 1; part <= count; part++) ends[part]! += ends[part - 1]!;
  const ordered = new Int32Array(ends[count]!);
  for (let index = 0; index < keys.length; index++) {
    const part = keys[index]!;
    if (part >= 0) ordered[ends[part]!++] = index;
  }
  return ordered;
}

export interface Statistics {
  readonly counts: Int32Array;
  readonly means: Float64Array;
  /** Sums of squared differences from the mean. */
  readonly squares: Float64Array;
}

/** Per part, the count, the mean (exact where all its values are equal) and the spread. */
export function statisticsWithin(given: ArrayLike<number>, { keys, count }: Partition): Statistics {
  const values = asFloats(given);
  const counts = new Int32Array(count);
  const origins = new Float64Array(count);
  const means = new Float64Array(count);
  const squares = new Float64Array(count);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    if (key < 0) continue;
    const value = values[index]!;
    if (counts[key]!++ === 0) origins[key] = value;
    const difference = value - origins[key]!;
    means[key]! += difference;
    squares[key]! += difference * difference;
  }
  // Σ(v - mean)² = Σ(v - v₀)² - n·(mean - v₀)². As v₀ is one of the values, the first is at most n + 1 times the result, so
  // little is lost in the subtraction.
  for (let key = 0; key < count; key++) {
    const shift = means[key]! / counts[key]!;
    means[key] = origins[key]! + shift;
    squares[key] = Math.max(0, squares[key]! - counts[key]! * shift * shift);
  }
  return { counts, means, squares };
}

/** Lists of one kind: a loop that reads several kinds puts every number that it reads on the heap. */
function asFloats(values: ArrayLike<number>): Float64Array {
  return values instanceof Float64Array ? values : Float64Array.from(values);
}

/** Spreads below this share of the mean are rounding: dividing by them would make differences out of none. */
const roundingShare = 1e-12;

/** Each value minus the mean of its part, divided by the part's spread; 0 where they differ by rounding alone. */
export function compareWithin(
  given: ArrayLike<number>,
  parts: Partition,
  { spread, epsilon, single = 'zero' }: Comparison,
): Float64Array {
  const values = asFloats(given);
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
