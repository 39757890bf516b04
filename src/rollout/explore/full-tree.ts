/** Full trees of turns, as in MALT (arXiv 2412.01928): every place branches, until the group is full. */

import type { Expansion, Explorer } from './tree.ts';

export interface FullTreeOptions {
  /** Children of every place, that of the episode which passed it among them. */
  readonly width: number;
}

/**
 * `width` episodes from the start, and at every later turn so many branches, up to the group's size.
 *
 * @example
 * defineRecipe({ name: 'mine', act: () => fullTreeExplorer({ width: 3 }), settings: { rollout: { group: 27 } } });
 */
export function fullTreeExplorer({ width }: FullTreeOptions): Explorer {
  return {
    keeps: () => true,
    next({ members, episodes, kept, rounds }) {
      const depth = rounds.length;
      if (depth === 0) return [{ from: 'start', members: Math.min(width, members) }];
      let left = members - episodes.length;
      return kept.flatMap((from): Expansion[] => {
        if (from.transition !== depth - 1) return [];
        const branches = Math.min(width - 1, left);
        left -= branches;
        return branches > 0 ? [{ from, members: branches }] : [];
      });
    },
  };
}
