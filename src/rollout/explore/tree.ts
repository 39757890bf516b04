/** What an explorer sees and says: the episodes of a task as a tree, and the places from which it is to grow. */

import type { Episode, Place } from '../../core/episode.ts';
import type { Rng } from '../../core/rng.ts';

/** The episodes of one task so far. Their order, and that of the places, does not depend on which ended first. */
export interface EpisodeTree {
  /** Episodes that the run asks for (G). An explorer may give fewer or more. */
  readonly members: number;
  readonly episodes: readonly Episode[];
  /** Places that were kept, episode after episode. */
  readonly kept: readonly Place[];
  /** What `next` gave so far. */
  readonly rounds: readonly (readonly Expansion[])[];
  /** Reward that a critic expects from a kept place on; undefined without a critic. */
  value(place: Place): number | undefined;
}

/** Episodes that go on from one place. */
export interface Expansion {
  /** A place of `kept`, the start of an episode (after its transition -1), or a start that no episode has yet. */
  readonly from: Place | 'start';
  readonly members: number;
  /** Transitions of their own after which they stop with 'early-stop'. Their last place may be kept like any other. */
  readonly turns?: number;
  /**
   * Of what comes after the place: `same` repeats the chance of its origin, so that twins differ only where their actions
   * do; from `'start'`, that of the first episode. `fresh` gives each episode its own. Default: same from a place, fresh
   * from `'start'`.
   */
  readonly chance?: 'same' | 'fresh';
}

/**
 * Decides how the episodes of a task branch. One explorer serves all tasks of a step, so all that it knows of a tree is the
 * tree.
 *
 * @example
 * // Two episodes, and one more from the second turn of the first.
 * const second: Explorer = {
 *   keeps: (episode, transition) => episode.key.member === 0 && transition === 0,
 *   next: ({ kept, rounds }) => {
 *     if (rounds.length === 0) return [{ from: 'start', members: 2 }];
 *     return rounds.length === 1 && kept[0] ? [{ from: kept[0], members: 1 }] : 'done';
 *   },
 * };
 */
export interface Explorer {
  /**
   * Whether the place after a transition is kept. Asked while the episode is played, wherever it goes on: what is kept may
   * hold a process or a container until the tree is done.
   *
   * @param episode so far, as it would be if it stopped here
   * @param transition counted through the prefix
   */
  keeps(episode: Episode, transition: number): boolean;
  /** Asked at the beginning, and whenever all episodes that it asked for have ended. `rng` is the tree's own. */
  next(tree: EpisodeTree, rng: Rng): readonly Expansion[] | 'done';
}
