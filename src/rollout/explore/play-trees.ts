/**
 * Plays groups whose episodes branch as an explorer says. The trees of a step grow in rounds, all of them together, so that
 * batches stay large and what a tree becomes depends on no other.
 */

import type { Group } from '../../core/episode.ts';
import { type GroupToPlay, gather, playEpisodes } from '../collect.ts';
import { type ExploreOptions, GrowingTree } from './growing-tree.ts';
import type { EpisodeTree } from './tree.ts';

/**
 * Play every group as its explorer says. Whatever is kept is let go of when its tree is done, and when anything fails.
 *
 * @throws TurnwiseError `definition-invalid`, `definition-failed`, and what ends a run
 */
export async function playTrees(requests: readonly GroupToPlay[], options: ExploreOptions): Promise<Group[]> {
  const trees = await growTrees(requests, options);
  return gather(
    requests,
    trees.flatMap(({ episodes }) => episodes),
  );
}

/** The same as trees, one a group, with what a critic said of their places. @throws as `playTrees` */
export async function growTrees(
  requests: readonly GroupToPlay[],
  options: ExploreOptions,
): Promise<readonly EpisodeTree[]> {
  const { valuesOf } = options;
  const trees = requests.map((request) => new GrowingTree(request, options));
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
      const values = await valuesOf(places.map(({ promptIds }) => [...promptIds]));
      for (const [index, { tree, place }] of places.entries()) {
        const value = values[index];
        if (value !== undefined) tree.setValue(place, value);
      }
    }
  } finally {
    await Promise.all(trees.map((tree) => tree.dispose()));
  }
  return trees;
}
