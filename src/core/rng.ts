/**
 * Seeded randomness. A generator is named by a path of keys, so every episode, turn and token draws from its own
 * stream and results do not depend on the order in which concurrent work happens to run.
 */

/** xoshiro128** state: four unsigned 32-bit words. */
export type RngState = readonly [number, number, number, number];

export class Rng {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(state: RngState) {
    [this.#a, this.#b, this.#c, this.#d] = state;
  }

  /** The generator named by `keys`; the same keys give the same stream, for ever. */
  static of(...keys: readonly (string | number)[]): Rng {
    return new Rng(hashWords(keys.join('\u001f')));
  }

  get state(): RngState {
    return [this.#a, this.#b, this.#c, this.#d];
  }

  /** A generator of its own, derived from the present state and `keys`, without advancing this one. */
  fork(...keys: readonly (string | number)[]): Rng {
    return Rng.of(this.#a, this.#b, this.#c, this.#d, ...keys);
  }

  /** The `index`-th generator of this one's own, as `fork` but for numbers only, and much faster; does not advance this one. */
  at(index: number): Rng {
    const salt = Math.imul(index + 1, 0x9e3779b9);
    return new Rng([
      avalanche(this.#a ^ salt),
      avalanche(this.#b + salt),
      avalanche(this.#c ^ Math.imul(salt, 0x85ebca6b)),
      avalanche(this.#d + Math.imul(salt, 0xc2b2ae35)) | 1,
    ]);
  }

  /** An unsigned 32-bit integer. */
  uint32(): number {
    const scrambled = Math.imul(rotateLeft(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotateLeft(this.#d, 11);
    return scrambled;
  }

  /** Uniform in [0, 1), 53 bits. */
  next(): number {
    return ((this.uint32() >>> 5) * 67108864 + (this.uint32() >>> 6)) / 9007199254740992;
  }

  /** Uniform integer in [0, n). */
  int(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Standard normal (Box-Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('Rng.pick: the list is empty');
    return items[this.int(items.length)] as T;
  }

  /**
   * One of several, in proportion to weights.
   *
   * @param weights from 0, one for each; where all are 0, the last item
   */
  weighted<T>(items: readonly T[], weights: readonly number[]): T {
    if (items.length === 0) throw new RangeError('Rng.weighted: the list is empty');
    const point = this.next() * weights.reduce((sum, weight) => sum + weight, 0);
    let end = 0;
    for (const [index, item] of items.entries()) {
      end += weights[index] ?? 0;
      if (point < end) return item;
    }
    return items.at(-1) as T;
  }

  /** A shuffled copy (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
    }
    return copy;
  }
}

function rotateLeft(x: number, k: number): number {
  return (x << k) | (x >>> (32 - k));
}

const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** A stable 32-bit hash of a string (FNV-1a with a final avalanche). */
export function hash32(text: string, seed = 0): number {
  let h = BASIS ^ seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), PRIME);
  return avalanche(h);
}

function avalanche(word: number): number {
  let h = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** `hash32` with the seeds 1 to 4, in one pass. */
function hashWords(text: string): RngState {
  let [a, b, c, d] = [BASIS ^ 1, BASIS ^ 2, BASIS ^ 3, BASIS ^ 4];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, PRIME);
    b = Math.imul(b ^ code, PRIME);
    c = Math.imul(c ^ code, PRIME);
    d = Math.imul(d ^ code, PRIME);
  }
  const words = [avalanche(a), avalanche(b), avalanche(c), avalanche(d)] as const;
  return words.every((word) => word === 0) ? [1, 2, 3, 4] : words;
}
