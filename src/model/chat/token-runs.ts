/**
 * Tokens that grow at their end and are never copied: runs of ids, the contexts and completions of calls, one after another.
 * A prompt is built from what its record keeps anyway, so a conversation of many turns takes no second copy of its tokens.
 */

/** Counts what was handled to build prompts: tokens encoded, copied or compared, and items of lists; benches read it. */
export const handled = { tokens: 0, items: 0 };

export class TokenRuns {
  /** Shared by those that go on from one another; only the longest adds to it. */
  readonly #runs: Run[];
  /** Of them it has these; of the last one as much as its length says. */
  readonly #count: number;
  readonly length: number;

  private constructor(runs: Run[], count: number, length: number) {
    this.#runs = runs;
    this.#count = count;
    this.length = length;
  }

  static readonly none: TokenRuns = new TokenRuns([], 0, 0);

  /** These tokens and others after them, which must not change. */
  with(...parts: readonly ArrayLike<number>[]): TokenRuns {
    const last = this.#runs.at(-1);
    const isLongest = last !== undefined && last.start + last.ids.length === this.length;
    const runs = isLongest ? this.#runs : this.#copied();
    let { length } = this;
    for (const part of parts) {
      if (part.length === 0) continue;
      const ids = part instanceof Int32Array ? part : Int32Array.from(part);
      const before = runs.at(-1);
      const joined = before && joinedIds(before.ids, ids);
      if (joined) runs[runs.length - 1] = { ids: joined, start: before.start };
      else runs.push({ ids, start: length });
      length += ids.length;
    }
    return new TokenRuns(runs, runs.length, length);
  }

  /** The first of these tokens. */
  upTo(length: number): TokenRuns {
    if (length >= this.length) return this;
    const last = this.#runAt(length);
    const count = this.#runs[last]?.start === length ? last : last + 1;
    return new TokenRuns(this.#runs, count, length);
  }

  /** How many of `ids` stand here from a place on. */
  agrees(from: number, ids: ArrayLike<number>): number {
    const most = Math.min(this.length - from, ids.length);
    if (most <= 0) return 0;
    let shared = 0;
    for (let index = this.#runAt(from); shared < most; index++) {
      const run = this.#runs[index]!;
      const end = Math.min(run.ids.length, from + most - run.start);
      let at = from + shared - run.start;
      while (at < end && run.ids[at] === ids[shared]) {
        at++;
        shared++;
      }
      if (at < end) break;
    }
    handled.tokens += shared;
    return shared;
  }

  /** A copy of the first of them in one array, with room for others after them. */
  toArray(length: number = this.length, room: number = 0): Int32Array {
    const copy = new Int32Array(length + room);
    for (const { ids, start } of this.#runs) {
      if (start >= length) break;
      copy.set(start + ids.length <= length ? ids : ids.subarray(0, length - start), start);
    }
    handled.tokens += length;
    return copy;
  }

  #copied(): Run[] {
    const runs = this.#runs.slice(0, this.#count);
    const last = runs.at(-1);
    if (last)
      runs[runs.length - 1] = { ids: last.ids.subarray(0, this.length - last.start), start: last.start };
    return runs;
  }

  /** The run in which a token stands. What is asked for is mostly near the end. */
  #runAt(token: number): number {
    let index = this.#count - 1;
    while (index > 0 && this.#runs[index]!.start > token) index--;
    return index;
  }
}

/** Ids one after another. */
interface Run {
  readonly ids: Int32Array;
  /** The token that it begins with. */
  readonly start: number;
}

/** Both as one array, where the second lies right behind the first. */
function joinedIds(first: Int32Array, second: Int32Array): Int32Array | undefined {
  const end = first.byteOffset + first.byteLength;
  // Asked for their buffers, small arrays would move into ones of their own.
  if (second.byteOffset === 0 || second.byteOffset !== end || second.buffer !== first.buffer)
    return undefined;
  return new Int32Array(first.buffer, first.byteOffset, first.length + second.length);
}
