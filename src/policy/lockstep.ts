/**
 * Lockstep makes batches of completions the same in every run: a batch is formed when every live episode waits for one, so
 * its members do not depend on timing. An episode that waits for several, such as the choices of a call, takes one place.
 * Episodes that end simply leave.
 */

import type { Batching, Waiting } from './batching.ts';

export class Lockstep implements Batching {
  #live = 0;
  #waiting: Waiting[] = [];
  /** Those whose completions wait. */
  readonly #episodes = new Set<string>();

  enter(): void {
    this.#live++;
  }

  leave(): void {
    this.#live--;
    this.#sendWhenAllWait();
  }

  wait(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#episodes.add(episodeOf(waiting));
    // What an episode asks for in one breath goes out together, also where all others wait already.
    queueMicrotask(() => this.#sendWhenAllWait());
  }

  #sendWhenAllWait(): void {
    if (this.#episodes.size < this.#live || this.#waiting.length === 0) return;
    // Arrival order may depend on timing where environments are asynchronous; the batch must not.
    const batch = this.#waiting.sort((a, b) => (a.conversation < b.conversation ? -1 : 1));
    this.#waiting = [];
    this.#episodes.clear();
    for (const waiting of batch) waiting.send();
  }
}

/** Names of conversations begin with their episodes'. */
const episodeOf = ({ conversation }: Waiting): string => conversation.replace(/\/[^/]*$/, '');
