/** Which conversation has which row of the cache: rows are given, taken from those that idle, and moved together. */

import type { Slot } from './slot.ts';

/** A model with a cache of rows; the scheduler decides which conversation has which row. */
export interface RowDecoder {
  readonly vocabulary: number;
  /** Feeds `chunks[i]` to row `firstRow` + i; returns the logits after each chunk's last token, [B, V]. */
  step(firstRow: number, chunks: readonly Int32Array[]): Promise<Float32Array>;
  swap(a: number, b: number): void;
  truncate(row: number, length: number): void;
  /** Row `to` holds the first `length` tokens that `from` holds, and nothing else. */
  copy(from: number, to: number, length: number): void;
  /** Forgets every row. */
  clear(): void;
  free(): void;
}

export class Slots {
  readonly #decoder: RowDecoder;
  readonly #most: number;
  /** In order of last use: the first idle one is evicted first. */
  readonly #slots: Map<string, Slot> = new Map();
  readonly #slotOfRow: (Slot | undefined)[] = [];

  /** @param most rows of the cache */
  constructor(decoder: RowDecoder, most: number) {
    this.#decoder = decoder;
    this.#most = most;
  }

  get size(): number {
    return this.#slots.size;
  }

  get(conversation: string): Slot | undefined {
    return this.#slots.get(conversation);
  }

  all(): Iterable<Slot> {
    return this.#slots.values();
  }

  /** Slots with a job, by row. */
  busy(): Slot[] {
    return this.#slotOfRow.filter((slot): slot is Slot => slot?.job !== undefined);
  }

  /**
   * Idle slots, the first to be evicted first: those that nobody waits for, least recently used before others.
   *
   * @param awaited conversations with a waiting job
   */
  evictable(awaited: ReadonlySet<string>): Slot[] {
    const idle = [...this.#slots.values()].filter((slot) => slot.job === undefined);
    return [
      ...idle.filter((slot) => !awaited.has(slot.conversation)),
      ...idle.filter((slot) => awaited.has(slot.conversation)),
    ];
  }

  /** The slot of the conversation, its own or another's that is evicted; undefined where it is busy, and where none is idle. */
  take(conversation: string, evictable: Slot[]): Slot | undefined {
    const known = this.#slots.get(conversation);
    if (known !== undefined) {
      if (known.job !== undefined) return undefined;
      this.#slots.delete(conversation);
      this.#slots.set(conversation, known);
      return known;
    }
    if (this.#slots.size >= this.#most) {
      let victim = evictable.shift();
      // Some may have been given a job since the list was made.
      while (victim !== undefined && victim.job !== undefined) victim = evictable.shift();
      if (victim === undefined) return undefined;
      this.forget(victim);
    }
    let row = this.#slotOfRow.indexOf(undefined);
    if (row < 0) row = this.#slotOfRow.length;
    const slot: Slot = { conversation, row, cached: 0, job: undefined };
    this.#slotOfRow[row] = slot;
    this.#slots.set(conversation, slot);
    return slot;
  }

  forget(slot: Slot): void {
    this.#decoder.truncate(slot.row, 0);
    this.#slotOfRow[slot.row] = undefined;
    this.#slots.delete(slot.conversation);
  }

  /** Forgets all, back to the state of a new sampler, so that what follows does not depend on what came before. */
  clear(): void {
    this.#slots.clear();
    this.#slotOfRow.length = 0;
    this.#decoder.clear();
  }

  /** Swaps rows so that `slots` have the rows from `firstRow` on, without gaps; returns them by row. */
  gather(firstRow: number, slots: readonly Slot[]): Slot[] {
    const end = firstRow + slots.length;
    const members = new Set(slots);
    const outside = slots.filter(({ row }) => row < firstRow || row >= end).sort((a, b) => a.row - b.row);
    for (let row = firstRow; row < end; row++) {
      const present = this.#slotOfRow[row];
      if (present !== undefined && members.has(present)) continue;
      const incoming = outside.shift()!;
      this.#decoder.swap(row, incoming.row);
      this.#slotOfRow[incoming.row] = present;
      this.#slotOfRow[row] = incoming;
      if (present !== undefined) present.row = incoming.row;
      incoming.row = row;
    }
    return this.#slotOfRow.slice(firstRow, end) as Slot[];
  }
}
