/** How the tasks of a step went: what sources of tasks remember. */

import type { Group } from '../../core/episode.ts';
import { isPlayedIn } from '../../core/episode-key.ts';
import { chainOf, trainedRoles } from '../../core/trajectory.ts';
import { turnsTaken } from '../../rollout/turns/turns-taken.ts';

export interface PlayedTask {
  /** Of each of its groups, the share of episodes that succeeded. */
  readonly rates: readonly number[];
  /** Turns of its longest success; 0 without one. */
  readonly longest: number;
}

/** The tasks with an index, where the policy plays one role. Episodes that a curation inserted do not count. */
export function successRates(groups: readonly Group[]): Map<number, PlayedTask> {
  const played = new Map<number, PlayedTask>();
  for (const group of groups) {
    const members = group.members.filter((episode) => isPlayedIn(group, episode));
    const [role, ...others] = new Set(members.flatMap((episode) => trainedRoles(chainOf(group, episode))));
    const task = members[0]?.key.task;
    if (typeof task !== 'number' || role === undefined || others.length > 0) continue;
    const won = members.filter(({ success }) => success[role] === true);
    const lengths = won.map((episode) => turnsTaken(role, chainOf(group, episode)));
    const before = played.get(task);
    played.set(task, {
      rates: [...(before?.rates ?? []), won.length / members.length],
      longest: Math.max(before?.longest ?? 0, ...lengths),
    });
  }
  return played;
}
