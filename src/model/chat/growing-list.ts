/** Lists that grow at their end: one that goes on from another shares its items, so that no turn copies those before it. */

import { handled } from './token-runs.ts';

/** A list that is read in order. Arrays are such lists. */
export interface Sequence<T> extends Iterable<T> {
  readonly length: number;
  /** Negative places count from the end. */
  at(index: number): T | undefined;
}

export class GrowingList<T> implements Sequence<T> {
  /** Shared by those that go on from one another; only the longest adds to it. */
  readonly #items: T[];
  readonly length: number;

  private constructor(items: T[], length: number) {
    this.#items = items;
    this.length = length;
  }

  static of<T>(items: Sequence<T> = []): GrowingList<T> {
    return items instanceof GrowingList ? items : new GrowingList<T>([], 0).with(...items);
  }

  at(index: number): T | undefined {
    const place = index < 0 ? this.length + index : index;
    return place >= 0 && place < this.length ? this.#items[place] : undefined;
  }

  /** These items and others after them. */
  with(...more: readonly T[]): GrowingList<T> {
    const end = this.length + more.length;
    // A list that was continued in the same way before has them already.
    let known = 0;
    while (known < more.length && this.#items[this.length + known] === more[known]) known++;
    const isLongest = this.length + known >= this.#items.length;
    const items = isLongest || known === more.length ? this.#items : this.toArray();
    for (let index = items === this.#items ? known : 0; index < more.length; index++)
      items.push(more[index]!);
    handled.items += more.length;
    return new GrowingList(items, end);
  }

  /** The first of these items. */
  upTo(length: number): GrowingList<T> {
    return length >= this.length ? this : new GrowingList(this.#items, length);
  }

  /** Whether it goes on from another, or is that. Equal items that were never shared do not count. */
  goesOnFrom(other: Sequence<T>): boolean {
    return other instanceof GrowingList && other.#items === this.#items && other.length <= this.length;
  }

  /** A copy. */
  toArray(): T[] {
    handled.items += this.length;
    return this.#items.slice(0, this.length);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.toArray()[Symbol.iterator]();
  }
}
