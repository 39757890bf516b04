/**
 * A page of a record: numbers of many calls and transitions in one buffer, and beside it what is no number. Token ids grow from
 * the buffer's front, so that a path of many calls is one run of them; everything else from its end.
 */

/** Longest text that lies among the numbers, in characters: a longer one takes little more as an object. */
const SHORT = 63;
/** A short text as one number: where it begins, in words, and its length in these bits. */
const LENGTH_BITS = 6;
/** Texts further behind have no such number. */
export const MOST_WORDS: number = 2 ** (31 - LENGTH_BITS);

/** Where a page keeps a text or an object: a short text among its numbers, or (below 0) one of its objects. */
export type Kept = number;

export class Page {
  readonly words: Int32Array;
  readonly #kept: unknown[] = [];

  /** @param size in words of four bytes */
  constructor(size: number) {
    this.words = new Int32Array(size);
  }

  ids(start: number, length: number): Int32Array {
    return new Int32Array(this.words.buffer, 4 * start, length);
  }

  numbers(start: number, length: number): Float32Array {
    return new Float32Array(this.words.buffer, 4 * start, length);
  }

  keep(value: unknown): Kept {
    return ~(this.#kept.push(value) - 1);
  }

  /** An object, or a text of whatever length. */
  kept<T>(at: Kept): T {
    return (at < 0 ? this.#kept[~at] : this.#shortText(at)) as T;
  }

  /** Writes a short text at a word, four characters in each. */
  write(text: string, start: number): Kept {
    for (let at = 0; at < text.length; at++)
      this.words[start + (at >> 2)]! |= text.charCodeAt(at) << (8 * (at & 3));
    return (start << LENGTH_BITS) | text.length;
  }

  #shortText(at: Kept): string {
    const start = at >>> LENGTH_BITS;
    const codes: number[] = [];
    for (let index = 0; index < (at & SHORT); index++) {
      codes.push((this.words[start + (index >> 2)]! >>> (8 * (index & 3))) & 0xff);
    }
    return String.fromCharCode.apply(null, codes);
  }
}

/** Words that a text takes among the numbers; undefined where it is too long, or has a character of more than a byte. */
export function wordsOfText(text: string): number | undefined {
  if (text.length > SHORT) return undefined;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return undefined;
  return (text.length + 3) >> 2;
}
