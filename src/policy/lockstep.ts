/**
 * Lockstep makes batches of completions the same in every run: a batch is formed when every live episode waits for its
 * next completion, so its members do not depend on timing. Episodes that end simply leave.
 */

import type { Batching, Waiting } from './batching.ts';

export class Lockstep implements Batching {
  #running = 0;
  #waiting: Waiting[] = [];

  enter(): void {
    this.#running++;
  }

  leave(): void {
    this.#running--;
    this.#sendWhenAllWait();
  }

  wait(waiting: Waiting): void {
    this.#running--;
    this.#waiting.push(waiting);
    this.#sendWhenAllWait();
  }

  #sendWhenAllWait(): void {
    if (this.#running > 0 || this.#waiting.length === 0) return;
    // Arrival order may depend on timing where environments are asynchronous; the batch must not.
    const batch = this.#waiting.sort((a, b) => (a.conversation < b.conversation ? -1 : 1));
    this.#waiting = [];
    this.#running += batch.length;
    for (const waiting of batch) waiting.send();
  }
}
