/** Curations that learn from some turns only, by how surprising their tokens are. */

import type { Choice, Episode, Role } from '../core/episode.ts';
import { surpriseOf } from '../core/surprise.ts';
import { isTrained, type RoleGroup, type Trajectory } from '../core/trajectory.ts';

/** What the policy's tokens of each turn have for a mean −log-probability; undefined where it wrote none. */
export function surprises({ turns }: Pick<Trajectory, 'turns'>): (number | undefined)[] {
  return turns.map(({ calls }) => {
    const surprise = surpriseOf(calls.filter(isTrained));
    return Number.isNaN(surprise) ? undefined : surprise;
  });
}

/**
 * Weight 1 for the turns that are kept, and for those in which the policy wrote nothing; 0 for the others.
 *
 * @param scopes trajectories whose turns are compared with one another
 * @param keeping of the surprises of a scope, which to keep
 */
export function weighTurns(
  scopes: readonly (readonly Trajectory[])[],
  keeping: (surprises: readonly number[]) => (surprise: number) => boolean,
): (episode: Episode, role: Role) => Choice {
  const weights = new Map<Episode, Map<Role, readonly number[]>>();
  for (const trajectories of scopes) {
    const known = trajectories.flatMap((own) => surprises(own).filter((one) => one !== undefined));
    const isKept = known.length === 0 ? () => true : keeping(known);
    for (const own of trajectories) {
      const ofEpisode = weights.get(own.episode) ?? new Map<Role, readonly number[]>();
      const weights_K = surprises(own).map((one) => (one === undefined || isKept(one) ? 1 : 0));
      weights.set(own.episode, ofEpisode.set(own.role, weights_K));
    }
  }
  return (episode, role) => {
    const weights_K = weights.get(episode)?.get(role);
    return { inBaseline: true, inLoss: true, weight: 1, ...(weights_K && { weights_K }) };
  };
}

/** The trajectories of a role of a group that are still in. */
export const trajectoriesIn = (
  { role, members }: RoleGroup,
  isIn: (episode: Episode, role: Role) => boolean,
): readonly Trajectory[] => members.filter(({ episode }) => isIn(episode, role));
