/**
 * Lockstep makes batches of completions the same in every run: a batch is formed when every live episode waits for its
 * next completion, so its members do not depend on timing. Episodes that end simply leave.
 */

export class Lockstep {
  #running = 0;
  readonly #flushes = new Set<() => void>();

  /** An episode starts. */
  enter(): void {
    this.#running++;
  }

  /** An episode ended. */
  leave(): void {
    this.#running--;
    this.#flushWhenAllWait();
  }

  /** An episode waits; `flush` is called once when all do, and must call `resume` with the number it serves. */
  park(flush: () => void): void {
    this.#running--;
    this.#flushes.add(flush);
    this.#flushWhenAllWait();
  }

  /** `count` waiting episodes are being served and count as running again. */
  resume(count: number): void {
    this.#running += count;
  }

  #flushWhenAllWait(): void {
    if (this.#running > 0) return;
    const flushes = [...this.#flushes];
    this.#flushes.clear();
    for (const flush of flushes) flush();
  }
}
