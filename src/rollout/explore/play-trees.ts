/**
 * Plays groups whose episodes branch as an explorer says. The trees of a step grow in rounds, all of them together, so that
 * batches stay large and what a tree becomes depends on no other.
 */

import type { Group } from '../../core/episode.ts';
import { type CollectOptions, type GroupRequest, gather, playEpisodes } from '../collect.ts';
import { GrowingTree } from './growing-tree.ts';
import type { Explorer } from './tree.ts';

export interface ExploreOptions extends CollectOptions {
  readonly explorer: Explorer;
  /** What a critic says of prompts; asked after every round. Undefined: it cannot say. */
  readonly valuesOf?: (prompts: readonly (readonly number[])[]) => Promise<readonly (number | undefined)[]>;
}

/**
 * Play every group as its explorer says. Whatever is kept is let go of when its tree is done, and when anything fails.
 *
 * @throws TurnwiseError `explorer-invalid`, and what ends a run
 */
export async function playTrees(
  requests: readonly GroupRequest[],
  options: ExploreOptions,
): Promise<Group[]> {
  const { explorer, valuesOf } = options;
  const trees = requests.map(
    (request) => new GrowingTree(request, explorer, options, valuesOf !== undefined),
  );
  try {
    for (;;) {
      const asked = trees.map((tree) => tree.ask());
      await Promise.all(trees.map((tree, index) => asked[index]!.length === 0 && tree.dispose()));
      const wanted = asked.flat();
      if (wanted.length === 0) break;
      const played = await playEpisodes(wanted, options);
      let next = 0;
      const places = trees.flatMap((tree, index) => {
        const first = next;
        next += asked[index]!.length;
        return tree.add(played.slice(first, next)).map((place) => ({ tree, ...place }));
      });
      if (!valuesOf || places.length === 0) continue;
      const values = await valuesOf(places.map(({ promptIds }) => promptIds));
      for (const [index, { tree, place }] of places.entries()) {
        const value = values[index];
        if (value !== undefined) tree.setValue(place, value);
      }
    }
  } finally {
    await Promise.all(trees.map((tree) => tree.dispose()));
  }
  return gather(
    requests,
    trees.flatMap(({ episodes }) => episodes),
  );
}
