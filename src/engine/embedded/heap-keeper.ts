/** Keeps the heap of a thread small between its calls. */

import { Session } from 'node:inspector';
import { getHeapStatistics } from 'node:v8';

/** What a heap may grow before its garbage is collected. V8 lets at least 8 MB wait, in every thread. */
const growthBytes = 2 ** 21;

export class HeapKeeper {
  readonly #session = new Session();
  /** After the last collection. */
  #bytes = heapBytes();

  constructor() {
    this.#session.connect();
  }

  /** To be called after work: collects garbage where much has come since the last time. */
  afterCall(): void {
    if (heapBytes() > this.#bytes + growthBytes) this.#collect();
  }

  #collect(): void {
    this.#bytes = Number.POSITIVE_INFINITY;
    this.#session.post('HeapProfiler.collectGarbage', () => {
      this.#bytes = heapBytes();
    });
  }
}

function heapBytes(): number {
  return getHeapStatistics().used_heap_size;
}
