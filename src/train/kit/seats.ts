/** Who plays which role, where one learner does not play all of them. */

import type { ByRole, Group, Role } from '../../core/episode.ts';
import { type RoleGroup, roleGroups, type Trajectory } from '../../core/trajectory.ts';
import type { Batching } from '../../policy/batching.ts';
import { LEARNER } from '../../policy/engine-policy.ts';
import type { Player } from '../../policy/seated.ts';

export interface Seats {
  /** Players by role, unless a group seats others; the first learner has the other roles. */
  readonly seated: ByRole<string>;
  /** Players besides the first learner by name, for one round of episodes. */
  players(batching: Batching): ReadonlyMap<string, Player>;
  /**
   * Players besides learners that the settings seat nowhere, and that groups of a step may seat. An earlier self is named with
   * its step, `NAME@STEP`, once for each that is kept.
   */
  names(step: number): readonly string[];
  /** Before groups are played that seat these players by name: an earlier self of a step needs its weights. */
  ready(names: Iterable<string>): Promise<void>;
  /** Before episodes are played: an earlier self is drawn for each step; evaluations, step 0, meet the earliest. */
  before(step: number): Promise<void>;
  /** After the weights of a step are published; 0 is the warm start. */
  after(step: number): Promise<void>;
  /** The name of the player of a role, unless a group seats another. */
  playerOf(role: Role): string;
  /** Whether a learner plays this role, unless a group seats another player. */
  learns(role: Role): boolean;
  /** Whether the player of this name learns. */
  isLearner(player: string): boolean;
}

/** The roles of each group that a learner plays: what is measured, credited and learned from. */
export function learnedRoles(
  { seats }: { readonly seats?: Pick<Seats, 'isLearner'> },
  groups: readonly Group[],
): readonly RoleGroup[] {
  const all = roleGroups(groups);
  return seats ? playedBy(all, (player) => seats.isLearner(player)) : all;
}

/** The player of a role in an episode. */
export const playerOfRole = ({ episode, role }: Trajectory): string => episode.seats[role]?.player ?? LEARNER;

/** Without members in which the role has another player, and without groups that have no member then. */
export function playedBy(
  groups: readonly RoleGroup[],
  isPlayer: (player: string) => boolean,
): readonly RoleGroup[] {
  return groups.flatMap((group) => {
    const members = group.members.filter((trajectory) => isPlayer(playerOfRole(trajectory)));
    if (members.length === group.members.length) return [group];
    return members.length === 0 ? [] : [{ ...group, members }];
  });
}
