/** Keeps the heap of a thread that works for hours as small as it was at the beginning. */

import { Session } from 'node:inspector';
import { getHeapSpaceStatistics } from 'node:v8';

/** What may be added to a heap before its garbage is collected. V8 lets at least 8 MB wait, in every thread. */
const growthBytes = 2 ** 21;
const growthShare = 0.1;

/** Collects the garbage of the thread that it is made in. */
export class HeapKeeper {
  readonly #session = new Session();
  /** After the last collection. */
  #bytes = oldBytes();

  constructor() {
    this.#session.connect();
  }

  /** To be called between two pieces of work: mostly it only looks. A collection takes tens of milliseconds. */
  collectIfGrown(): void {
    if (oldBytes() <= this.#bytes + Math.max(growthBytes, growthShare * this.#bytes)) return;
    this.#bytes = Number.POSITIVE_INFINITY;
    this.#session.post('HeapProfiler.collectGarbage', () => {
      this.#bytes = oldBytes();
    });
  }
}

/** What outlived the young generation, which V8 keeps small itself. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => !space_name.startsWith('new_'))
    .reduce((total, { space_used_size }) => total + space_used_size, 0);
}
