/**
 * Tokens that grow at their end and are never copied: runs of ids, the contexts and completions of calls, one after another.
 * A prompt is built from what its record keeps anyway, so a conversation of many turns takes no second copy of its tokens.
 */

/** Counts tokens that were encoded, copied or compared to build prompts; benches read it. */
export const handled = { tokens: 0 };

export class TokenRuns {
  /** Shared by those that go on from one another; only the longest adds to it. */
  readonly #runs: Int32Array[];
  readonly #count: number;
  readonly length: number;

  private constructor(runs: Int32Array[], count: number, length: number) {
    this.#runs = runs;
    this.#count = count;
    this.length = length;
  }

  static readonly none: TokenRuns = new TokenRuns([], 0, 0);

  /** These tokens and others after them, which must not change. */
  with(...parts: readonly ArrayLike<number>[]): TokenRuns {
    const isLongest = this.#count > 0 && this.#count === this.#runs.length;
    const runs = isLongest ? this.#runs : this.#runs.slice(0, this.#count);
    let { length } = this;
    for (const part of parts) {
      if (part.length === 0) continue;
      runs.push(part instanceof Int32Array ? part : Int32Array.from(part));
      length += part.length;
    }
    return new TokenRuns(runs, runs.length, length);
  }

  /** The first of these tokens. */
  upTo(length: number): TokenRuns {
    if (length >= this.length) return this;
    const { index, start } = this.#runAt(length);
    if (start === length) return new TokenRuns(this.#runs, index, length);
    const runs = this.#runs.slice(0, index + 1);
    runs[index] = this.#runs[index]!.slice(0, length - start);
    return new TokenRuns(runs, index + 1, length);
  }

  /** How many of `ids` stand here from a place on. */
  agrees(from: number, ids: ArrayLike<number>): number {
    const most = Math.min(this.length - from, ids.length);
    if (most <= 0) return 0;
    let { index, start } = this.#runAt(from);
    let shared = 0;
    for (; shared < most; index++) {
      const run = this.#runs[index]!;
      const end = Math.min(start + run.length, from + most);
      while (from + shared < end && run[from + shared - start] === ids[shared]) shared++;
      if (from + shared < end) break;
      start += run.length;
    }
    handled.tokens += shared;
    return shared;
  }

  /** A copy of the first of them in one array, with room for others after them. */
  toArray(length: number = this.length, room: number = 0): Int32Array {
    const ids = new Int32Array(length + room);
    let at = 0;
    for (let index = 0; at < length; index++) {
      const run = this.#runs[index]!;
      ids.set(at + run.length <= length ? run : run.subarray(0, length - at), at);
      at += run.length;
    }
    handled.tokens += length;
    return ids;
  }

  /** The run in which a token stands, and the token that it begins with. What is asked for is mostly near the end. */
  #runAt(token: number): { index: number; start: number } {
    let index = this.#count;
    let start = this.length;
    while (start > token) start -= this.#runs[--index]!.length;
    return { index, start };
  }
}
