/** Which trajectories set baselines and are learned from: never those that failed, and no group that failures left too small. */

import type { Episode, Group } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import { isTrainable } from '../core/stop.ts';
import { chainOf, isTrained, type RoleGroup, type Trajectory } from '../core/trajectory.ts';

export interface UsableGroups {
  readonly groups: readonly RoleGroup[];
  /** Episodes left out because they failed, timed out or were cancelled. */
  readonly failedEpisodes: number;
  /** Groups left out because fewer than the minimum survived. */
  readonly droppedGroups: number;
}

/** @param isSmall whether a group may be smaller than the minimum */
export function keepUsable(
  groups: readonly RoleGroup[],
  minimumMembers: number,
  isSmall: (group: RoleGroup) => boolean = () => false,
): UsableGroups {
  const usable = groups.map((group) => ({
    ...group,
    members: group.members.filter((member) => isTrainable(member.stop) && member.turns.length > 0),
  }));
  const kept = usable.filter((group) => group.members.length >= (isSmall(group) ? 1 : minimumMembers));
  return {
    groups: kept,
    failedEpisodes: countMembers(groups) - countMembers(usable),
    droppedGroups: groups.length - kept.length,
  };
}

/** Whether something was done in it, and nothing failed. */
export function isUsable({ stop, transitions, calls, branchedFrom }: Episode): boolean {
  return isTrainable(stop) && (transitions.length > 0 || branchedFrom !== undefined || calls.some(isTrained));
}

/**
 * The groups without episodes that failed; groups without any others are left out. What branched from one that is left out has the
 * prefix that they shared as its own.
 *
 * @param isIn which of the others count
 */
export function usableGroups(
  groups: readonly Group[],
  isIn: (episode: Episode, group: Group) => boolean = () => true,
): Group[] {
  return groups.flatMap((group) => {
    const members = group.members.filter((episode) => isUsable(episode) && isIn(episode, group));
    if (members.length === 0) return [];
    const kept = new Set(members.map(({ key }) => keyText(key)));
    const whole = (episode: Episode): Episode => {
      const { branchedFrom, ...own } = episode;
      if (branchedFrom === undefined || kept.has(keyText(branchedFrom.episode))) return episode;
      return { ...own, ...chainOf(group, episode) };
    };
    return [{ ...group, members: members.map(whole) }];
  });
}

/** The groups with these of their members, and with the episodes that these branched from; groups without any are left out. */
export function withMembers(groups: readonly Group[], isIn: (episode: Episode) => boolean): Group[] {
  return groups.flatMap((group) => {
    const kept = new Set(group.members.filter(isIn));
    if (kept.size === 0) return [];
    const named = new Map(group.members.map((episode) => [keyText(episode.key), episode]));
    // Those that are added are gone through as well.
    for (const { branchedFrom } of kept) {
      const origin = branchedFrom && named.get(keyText(branchedFrom.episode));
      if (origin) kept.add(origin);
    }
    return [{ ...group, members: group.members.filter((episode) => kept.has(episode)) }];
  });
}

export function countMembers(groups: readonly RoleGroup[]): number {
  return groups.reduce((sum, { members }) => sum + members.length, 0);
}

/**
 * Share of groups whose members all have the same return: they teach group-relative methods nothing. Undefined where no group
 * has two members, which could differ.
 */
export function constantShare(groups: readonly RoleGroup[]): number | undefined {
  const compared = groups.filter(({ members }) => members.length > 1);
  if (compared.length === 0) return undefined;
  const constant = (members: readonly Trajectory[]): boolean =>
    members.every(({ outcome }) => outcome === members[0]!.outcome);
  return compared.filter(({ members }) => constant(members)).length / compared.length;
}
