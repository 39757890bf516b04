/** What roles of an episode earned that no trajectory tells of: they took no turn, or their group was left out. */

import { keyText } from '../core/episode-key.ts';
import { isTrainable } from '../core/stop.ts';
import type { RoleGroup, Trajectory } from '../core/trajectory.ts';

/** The groups that are left, whose trajectories say what the absent roles of their episodes earned among `all`. */
export function withAbsentRoles(left: readonly RoleGroup[], all: readonly RoleGroup[]): readonly RoleGroup[] {
  const present = new Set(left.flatMap(({ members }) => members.map(({ id }) => id)));
  const absent = new Map<string, number>();
  for (const trajectory of all.flatMap(({ members }) => members)) {
    if (present.has(trajectory.id) || trajectory.outcome === 0 || !isTrainable(trajectory.stop)) continue;
    const episode = nameOf(trajectory);
    absent.set(episode, (absent.get(episode) ?? 0) + trajectory.outcome);
  }
  if (absent.size === 0) return left;
  return left.map((group) => ({
    ...group,
    members: group.members.map((member) => {
      const absentOutcome = absent.get(nameOf(member));
      return absentOutcome === undefined ? member : { ...member, absentOutcome };
    }),
  }));
}

const nameOf = ({ episode }: Trajectory): string => keyText(episode.key);
