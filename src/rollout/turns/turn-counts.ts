/** How many turns episodes took: what turn controls remember of a step. */

import type { Episode, Group, Role } from '../../core/episode.ts';
import { isPlayedIn } from '../../core/episode-key.ts';
import { chainOf, trainedRoles } from '../../core/trajectory.ts';
import { turnsTaken } from './turns-taken.ts';

/** One role of an episode, and the turns that it took. */
export interface TurnCount {
  readonly episode: Episode;
  readonly role: Role;
  readonly turns: number;
  readonly success: boolean;
}

/** Of each role of the policy that took a turn, through the prefix of a branch. Episodes that a curation inserted are left out. */
export function turnCounts(groups: readonly Group[]): TurnCount[] {
  return groups.flatMap((group) =>
    group.members
      .filter((episode) => isPlayedIn(group, episode))
      .flatMap((episode) => {
        const chain = chainOf(group, episode);
        return trainedRoles(chain).flatMap((role) => {
          const turns = turnsTaken(role, chain);
          return turns === 0 ? [] : [{ episode, role, turns, success: episode.success[role] === true }];
        });
      }),
  );
}
