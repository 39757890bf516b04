/** Keeps the heap of a worker as small as it was at the beginning. */

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a heap may grow before its garbage is collected. V8 lets at least 8 MB wait, in every thread. */
const growthBytes = 2 ** 20;

/** Collects the garbage of the thread that it is made in. */
export class HeapKeeper {
  readonly #collect = collector();
  /** The least that it has been. */
  #bytes = oldBytes();

  /** To be called between two pieces of work: mostly it only looks. A collection takes some 10 ms. */
  collectIfGrown(): void {
    if (oldBytes() > this.#bytes + growthBytes) {
      this.#collect();
      this.#bytes = oldBytes();
    } else this.#bytes = Math.min(this.#bytes, oldBytes());
  }
}

/** V8's own function, which is there only in contexts that are made while this flag is set. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/** What outlived the young generation, which is small in a worker. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => !space_name.startsWith('new_'))
    .reduce((total, { space_used_size }) => total + space_used_size, 0);
}
