/**
 * Trees of programs: where a program was run and did not solve the task, other programs are tried from there. Tree-of-Code,
 * arXiv 2412.15305, with the execution itself as the signal of where to go on.
 *
 * A group begins with `width` episodes. Then the places after a turn that earned nothing branch, those whose program ran before
 * those whose program failed, earlier turns first, until each has been tried `width` times or the group is full.
 * 1. Whether a program ran is whether the environment could use the action.
 * 2. In the paper other prompts and models make siblings differ, and a vote ends the search; here the policy samples each of them,
 *    and its recipe learns from all.
 */

import type { Place, Role } from '../../core/episode.ts';
import { keyText, placeText } from '../../core/episode-key.ts';
import type { EpisodeTree, Expansion, Explorer } from './tree.ts';

export interface ProgramTreeOptions {
  /** Programs that are tried at a place, that of the episode which passed it among them. */
  readonly width: number;
  /** Whose rewards count. Default: agent. */
  readonly role?: Role;
}

/**
 * Goes on from failed executions until the group is full.
 *
 * @example
 * defineRecipe({ name: 'mine', act: () => programTreeExplorer({ width: 3 }), settings: { rollout: { group: 12 } } });
 *
 * Built-in recipes take it with `--set branching.explorer=program-tree`.
 */
export function programTreeExplorer({ width, role = 'agent' }: ProgramTreeOptions): Explorer {
  return {
    keeps: ({ transitions }) => (transitions.at(-1)?.rewards[role] ?? 0) <= 0,
    next(tree) {
      let left = tree.members - tree.episodes.length;
      if (left <= 0) return 'done';
      if (tree.rounds.length === 0) return [{ from: 'start', members: Math.min(width, left) }];
      const expansions: Expansion[] = [];
      for (const place of byPromise(tree)) {
        const wanted = Math.min(left, width - 1 - branchesAt(tree, place));
        if (wanted <= 0) continue;
        expansions.push({ from: place, members: wanted, chance: 'fresh' });
        left -= wanted;
      }
      // Where no place is left, the rest of the group begins anew.
      return expansions.length > 0 ? expansions : [{ from: 'start', members: left }];
    },
  };
}

/** Programs that ran first, then earlier turns; else in their order. */
function byPromise({ episodes, kept }: EpisodeTree): Place[] {
  const byKey = new Map(episodes.map((episode) => [keyText(episode.key), episode]));
  const ran = ({ episode, transition }: Place): number => {
    const { branchedFrom, transitions } = byKey.get(keyText(episode))!;
    const own = transition - ((branchedFrom?.transition ?? -1) + 1);
    return transitions[own]?.valid === true ? 0 : 1;
  };
  return [...kept].sort((a, b) => ran(a) - ran(b) || a.transition - b.transition);
}

function branchesAt({ rounds }: EpisodeTree, place: Place): number {
  const name = placeText(place);
  return rounds
    .flat()
    .reduce(
      (sum, { from, members }) => sum + (from !== 'start' && placeText(from) === name ? members : 0),
      0,
    );
}
