/** Which tasks of one set are for training, for validation and for tests: decided by the tasks themselves, not by their order. */

import type { Split } from '../../core/episode.ts';

/** Of the different tasks; the rest is for training. */
const HELD_OUT = 0.1;

/** With fewer different tasks no split could hold one of its own. */
const FEWEST = 3;

/**
 * Indices of each split, in the order of the set. Equal hashes share a split, so that a task that occurs twice is never both
 * practised and tested. Every split has a task; where there are fewer than three different ones, all have all of them.
 */
export function cutIntoSplits(hashes: Uint32Array): Readonly<Record<Split, Uint32Array>> {
  const different = Uint32Array.from(new Set(hashes)).sort();
  if (different.length < FEWEST) {
    const all = hashes.map((_, index) => index);
    return { train: all, validation: all, test: all };
  }
  const held = Math.max(1, Math.round(HELD_OUT * different.length));
  const splitOf = new Map<number, Split>();
  for (const [rank, hash] of different.entries()) {
    if (rank < 2 * held) splitOf.set(hash, rank < held ? 'test' : 'validation');
  }
  const indices: Record<Split, number[]> = { train: [], validation: [], test: [] };
  for (const [index, hash] of hashes.entries()) indices[splitOf.get(hash) ?? 'train'].push(index);
  return {
    train: Uint32Array.from(indices.train),
    validation: Uint32Array.from(indices.validation),
    test: Uint32Array.from(indices.test),
  };
}
