/**
 * Completions that are restricted to a few token sequences: their trie, walked token by token. A token that alone may come
 * next is forced: it is not sampled, has log-probability 0, and teaches nothing.
 */

/** Most token sequences that a completion may be restricted to. */
export const MOST_CHOICES = 256;

/** The ids that each token of a sequence was chosen among, itself among them; null where it could be any. */
export type AllowedIds = readonly (Int32Array | null)[];

/**
 * A way through the trie of some choices.
 *
 * @example
 * const walk = new ChoiceWalk([Int32Array.of(4, 2), Int32Array.of(5, 6, 2), Int32Array.of(5, 7, 2)]);
 * walk.next(); // [4, 5]
 * walk.take(5);
 * walk.next(); // [6, 7]
 */
export class ChoiceWalk {
  #left: readonly Int32Array[];
  #depth = 0;

  constructor(choices: readonly Int32Array[]) {
    this.#left = choices;
  }

  /** The ids that may come next, ascending; none at the end of a choice. */
  next(): Int32Array {
    const ids = new Set<number>();
    for (const choice of this.#left) if (choice.length > this.#depth) ids.add(choice[this.#depth]!);
    return Int32Array.from(ids).sort();
  }

  /** The id that alone may come next. */
  forced(): number | undefined {
    const ids = this.next();
    return ids.length === 1 ? ids[0] : undefined;
  }

  take(id: number): void {
    const depth = this.#depth++;
    this.#left = this.#left.filter((choice) => choice[depth] === id);
  }

  /** Whether a choice is whole. */
  get ended(): boolean {
    return this.next().length === 0;
  }
}

/** What each of `ids`, the beginning of a choice or a whole one, was chosen among. */
export function allowedAt(choices: readonly Int32Array[], ids: ArrayLike<number>): Int32Array[] {
  const walk = new ChoiceWalk(choices);
  return Array.from(ids, (id) => {
    const allowed = walk.next();
    walk.take(id);
    return allowed;
  });
}

/** Whether a token was the only one that could come. */
export const isForced = (allowed: Int32Array | null | undefined): boolean => allowed?.length === 1;

/** How many tokens of a completion were chosen: all of a free one, and of a restricted one those that were not forced. */
export function chosenTokens({
  ids,
  choices,
}: {
  readonly ids: ArrayLike<number>;
  readonly choices?: readonly Int32Array[];
}): number {
  if (choices === undefined) return ids.length;
  return allowedAt(choices, ids).filter((allowed) => !isForced(allowed)).length;
}

/** Whether no choice is the beginning of another, or the same: then each ends where it ends. */
export function arePrefixFree(choices: readonly Int32Array[]): boolean {
  const sorted = [...choices].sort(compare);
  return sorted.every((choice, index) => {
    const next = sorted[index + 1];
    return next === undefined || choice.some((id, at) => next[at] !== id);
  });
}

function compare(a: Int32Array, b: Int32Array): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return a.length - b.length;
}
