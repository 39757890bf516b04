/** Episodes that a search finds: of each task a tree is played, and one episode of it counts, from its start to its end. */

import type { Episode, Group } from '../../core/episode.ts';
import { chainOf } from '../../core/trajectory.ts';
import type { CollectOptions, GroupToPlay } from '../collect.ts';
import type { ExploreOptions } from './growing-tree.ts';
import { growTrees } from './play-trees.ts';
import type { EpisodeTree, Explorer } from './tree.ts';

export interface Search {
  readonly explorer: Explorer;
  /** Episodes that its trees are to have, for explorers that ask. Default: 1. */
  readonly members?: number;
  /**
   * The episode that counts. A verifier that knows no rewards of the end, such as a critic, makes a search that a task without
   * known rewards allows too; one that reads outcomes is an upper bound. Undefined: none, and the first one counts.
   */
  choose(tree: EpisodeTree): Episode | undefined;
  readonly valuesOf?: ExploreOptions['valuesOf'];
}

/**
 * One episode a group.
 *
 * @returns with the steps of the environment that all of it took
 * @throws as `playTrees`
 */
export async function searched(
  requests: readonly GroupToPlay[],
  { explorer, members = 1, choose, valuesOf, ...options }: CollectOptions & Search,
): Promise<{ readonly groups: readonly Group[]; readonly steps: number }> {
  const trees = await growTrees(
    requests.map((request) => ({ ...request, members })),
    { ...options, explorer, subject: 'The explorer of the search', ...(valuesOf && { valuesOf }) },
  );
  const groups = trees.map((tree, index) => {
    const { step, group } = requests[index]!;
    const all = { step, group, members: tree.episodes };
    const chosen = choose(tree) ?? tree.episodes[0];
    return { step, group, members: chosen ? [whole(all, chosen)] : [] };
  });
  const steps = trees
    .flatMap(({ episodes }) => episodes)
    .reduce((sum, { transitions }) => sum + transitions.length, 0);
  return { groups, steps };
}

/** The episode as if it had been played from its start, as the first of its task. */
function whole(group: Group, episode: Episode): Episode {
  const { branchedFrom: _, ...own } = episode;
  return { ...own, ...chainOf(group, episode), key: { ...episode.key, member: 0 } };
}
