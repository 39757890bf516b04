/** What roles of an episode earned that no trajectory tells of: they took no turn, or their group was left out. */

import { isTrainable } from '../core/stop.ts';
import type { Group, Trajectory } from '../core/trajectory.ts';

/** The episode that roles share: where there are several, each trajectory's id ends with its role. */
export function episodeOf({ id, role }: Pick<Trajectory, 'id' | 'role'>): string {
  return id.endsWith(`/${role}`) ? id.slice(0, -role.length - 1) : id;
}

/** The groups that are left, whose trajectories say what the absent roles of their episodes earned among `all`. */
export function withAbsentRoles(left: readonly Group[], all: readonly Group[]): readonly Group[] {
  const present = new Set(left.flatMap(({ members }) => members.map(({ id }) => id)));
  const absent = new Map<string, number>();
  for (const trajectory of all.flatMap(({ members }) => members)) {
    if (present.has(trajectory.id) || trajectory.outcome === 0 || !isTrainable(trajectory.stop)) continue;
    const episode = episodeOf(trajectory);
    absent.set(episode, (absent.get(episode) ?? 0) + trajectory.outcome);
  }
  if (absent.size === 0) return left;
  return left.map((group) => ({
    ...group,
    members: group.members.map((member) => {
      const absentOutcome = absent.get(episodeOf(member));
      return absentOutcome === undefined ? member : { ...member, absentOutcome };
    }),
  }));
}
