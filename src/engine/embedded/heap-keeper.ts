/** Keeps the heap of a worker about as small as it was at the beginning. */

import { Session } from 'node:inspector';
import { getHeapSpaceStatistics } from 'node:v8';

/** What a heap may grow before its garbage is collected, where nothing else is said. V8 lets at least 8 MB wait, in every thread. */
const smallGrowth = 2 ** 21;

/** Collects the garbage of the thread that it is made in. */
export class HeapKeeper {
  readonly #growth: number;
  readonly #session = new Session();
  /** The least that it has been. */
  #bytes = oldBytes();
  #collecting = false;

  /** @param growth in bytes */
  constructor(growth = smallGrowth) {
    this.#growth = growth;
    this.#session.connect();
  }

  /** To be called between two pieces of work: mostly it only looks. A collection takes some 20 to 40 ms, and gives pages back. */
  collectIfGrown(): void {
    if (this.#collecting) return;
    const bytes = oldBytes();
    this.#bytes = Math.min(this.#bytes, bytes);
    if (bytes <= this.#bytes + this.#growth) return;
    this.#collecting = true;
    this.#session.post('HeapProfiler.collectGarbage', () => {
      this.#collecting = false;
      this.#bytes = oldBytes();
    });
  }
}

/** What outlived the young generation, which is small in a worker. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => !space_name.startsWith('new_'))
    .reduce((total, { space_used_size }) => total + space_used_size, 0);
}
