/** Curations that learn from some turns only, by a measure of what the policy wrote in them. */

import type { Call, Choice, Episode, Role } from '../core/episode.ts';
import { isTrained, type RoleGroup, type Trajectory } from '../core/trajectory.ts';

/** Of the calls of a turn that are trained: `surpriseOf`, `entropyOf`. NaN where the policy wrote nothing. */
type Measure = (calls: readonly Call[]) => number;

/** What the policy's tokens of each turn measure; undefined where it wrote none. */
function measured({ turns }: Trajectory, measure: Measure): (number | undefined)[] {
  return turns.map(({ calls }) => {
    const own = measure(calls.filter(isTrained));
    return Number.isNaN(own) ? undefined : own;
  });
}

/**
 * Weight 1 for the turns that are kept, and for those in which the policy wrote nothing; 0 for the others.
 *
 * @param scopes trajectories whose turns are compared with one another
 * @param keeping of the measures of a scope, which to keep
 */
export function weighTurns(
  scopes: readonly (readonly Trajectory[])[],
  measure: Measure,
  keeping: (measures: readonly number[]) => (own: number) => boolean,
): (episode: Episode, role: Role) => Choice {
  const weights = new Map<Episode, Map<Role, readonly number[]>>();
  for (const trajectories of scopes) {
    const measures = trajectories.map((own) => measured(own, measure));
    const known = measures.flat().filter((one) => one !== undefined);
    const isKept = known.length === 0 ? () => true : keeping(known);
    for (const [index, { episode, role }] of trajectories.entries()) {
      const ofEpisode = weights.get(episode) ?? new Map<Role, readonly number[]>();
      const weights_K = measures[index]!.map((one) => (one === undefined || isKept(one) ? 1 : 0));
      weights.set(episode, ofEpisode.set(role, weights_K));
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
