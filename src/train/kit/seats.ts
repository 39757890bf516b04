/** Who plays which role, where one learner does not play all of them. */

import type { Group, Role } from '../../core/episode.ts';
import { type RoleGroup, roleGroups } from '../../core/trajectory.ts';
import type { Batching } from '../../policy/batching.ts';
import type { Player } from '../../policy/seated.ts';

export interface Seats {
  /** Players of the roles that the first learner does not play, for one round of episodes. */
  players(batching: Batching): ReadonlyMap<Role, Player>;
  /** Before episodes are played: an earlier self is drawn for each step; evaluations, step 0, meet the earliest. */
  before(step: number): Promise<void>;
  /** After the weights of a step are published; 0 is the warm start. */
  after(step: number): Promise<void>;
  /** The name of the player of a role. */
  playerOf(role: Role): string;
  /** Whether a learner plays this role. */
  learns(role: Role): boolean;
}

/** The roles of each group that a learner plays: what is measured, credited and learned from. */
export function learnedRoles(
  { seats }: { readonly seats?: Pick<Seats, 'learns'> },
  groups: readonly Group[],
): RoleGroup[] {
  const all = roleGroups(groups);
  return seats ? all.filter(({ role }) => seats.learns(role)) : all;
}
