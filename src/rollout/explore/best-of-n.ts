/**
 * Best of n, turn by turn: several actions are sampled, a verifier says which is best, and only that one is gone on from.
 *
 *   worth of an action = what was earned up to it + what a critic expects beyond;   of equal ones the first is taken
 *
 * The critic is the value head of the recipe, so nothing is asked of the environment but its steps. Meant for evaluations: the
 * actions that were not taken are episodes of one turn, which say little of what they would have earned.
 */

import type { Episode, Place, Role } from '../../core/episode.ts';
import { placeText } from '../../core/episode-key.ts';
import { isTrainable } from '../../core/stop.ts';
import type { EpisodeTree, Explorer } from './tree.ts';

export interface BestOfNOptions {
  /** n: actions that are sampled in every turn. */
  readonly width: number;
  /** Whose rewards count. Default: agent. */
  readonly role?: Role;
}

/**
 * Goes on from the best of `width` actions, again and again; `bestOfTurns` names the episode that came of it.
 *
 * @example
 * const { result } = await evaluate({ ...options, search: { explorer: bestOfNExplorer({ width: 4 }), choose: bestOfTurns, valuesOf } });
 */
export function bestOfNExplorer({ width, role = 'agent' }: BestOfNOptions): Explorer {
  return {
    keeps: () => true,
    next(tree) {
      if (tree.rounds.length === 0) return [{ from: 'start', members: width, turns: 1 }];
      const best = bestOfTurns(tree, role);
      const place = best && endOf(best);
      // It may have come to its end.
      if (!place || !tree.kept.some((one) => placeText(one) === placeText(place))) return 'done';
      return [{ from: place, members: width, turns: 1, chance: 'fresh' }];
    },
  };
}

/** The best episode of the last round; undefined where all of them failed. */
export function bestOfTurns(
  { episodes, rounds, value }: Pick<EpisodeTree, 'episodes' | 'rounds' | 'value'>,
  role: Role = 'agent',
): Episode | undefined {
  const members = (rounds.at(-1) ?? []).reduce((sum, expansion) => sum + expansion.members, 0);
  const worth = (episode: Episode): number => (episode.outcome[role] ?? 0) + (value(endOf(episode)) ?? 0);
  return episodes
    .slice(episodes.length - members)
    .filter(({ stop }) => isTrainable(stop))
    .reduce<Episode | undefined>(
      (best, episode) => (best === undefined || worth(episode) > worth(best) ? episode : best),
      undefined,
    );
}

/** The place after its last transition. */
function endOf({ key, branchedFrom, transitions }: Episode): Place {
  return { episode: key, transition: (branchedFrom?.transition ?? -1) + transitions.length };
}

/** Expected outcome of the best of k by a verifier, of n ≥ k scored samples: Σ_i C(i−1, k−1) / C(n, k) · r_(i), i ascending by score. */
export function expectedBestOf(
  scored: readonly { readonly score: number; readonly outcome: number }[],
  k: number,
): number {
  const ascending = scored
    .map((one, index) => ({ ...one, index }))
    // Ties are broken by index: the earlier is taken, so it ranks higher.
    .sort((a, b) => a.score - b.score || b.index - a.index);
  const n = ascending.length;
  // C(i−1, k−1) / C(n, k), from the top down: the first is k / n, each next one the last times (i − k) / (i − 1).
  let weight = k / n;
  let sum = 0;
  for (let i = n; i >= k; i--) {
    sum += weight * ascending[i - 1]!.outcome;
    weight *= (i - k) / Math.max(1, i - 1);
  }
  return sum;
}
