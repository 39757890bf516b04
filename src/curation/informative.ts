/** Which groups are worth learning from: those whose outcomes differ. */

import type { Choice, Episode, Group, Role } from '../core/episode.ts';
import { populationStd } from '../core/statistics.ts';

/** Smallest standard deviation of outcomes that counts as a difference. */
const SMALLEST_SPREAD = 1e-3;

/** One role of a group, and what it earned in each of its episodes. */
export interface RoleOutcomes {
  readonly role: Role;
  readonly members: readonly Episode[];
  readonly outcomes: readonly number[];
}

/** The roles of each group, one after another, in those of their episodes that are in. */
export function roleOutcomes(
  groups: readonly Group[],
  isIn: (episode: Episode, role: Role) => boolean,
): RoleOutcomes[] {
  return groups.flatMap((group) => {
    const roles = [...new Set(group.members.flatMap(({ outcome }) => Object.keys(outcome)))];
    return roles.flatMap((role) => {
      const members = group.members.filter((episode) => isIn(episode, role));
      return members.length === 0
        ? []
        : [{ role, members, outcomes: members.map(({ outcome }) => outcome[role] ?? 0) }];
    });
  });
}

function spread({ outcomes }: Pick<RoleOutcomes, 'outcomes'>): number {
  return outcomes.length < 2 ? 0 : populationStd(outcomes);
}

/** The groups whose members did not all earn the same, in their order. */
export function informative<Outcomes extends Pick<RoleOutcomes, 'outcomes'>>(
  groups: readonly Outcomes[],
): Outcomes[] {
  return groups.filter((group) => spread(group) > SMALLEST_SPREAD);
}

/** The share of groups whose outcomes vary most, at least one, in their order. */
export function mostVaried<Outcomes extends Pick<RoleOutcomes, 'outcomes'>>(
  groups: readonly Outcomes[],
  share: number,
): Outcomes[] {
  if (share >= 1) return [...groups];
  const order = groups.map((group, index) => ({ index, spread: spread(group) }));
  order.sort((a, b) => b.spread - a.spread || a.index - b.index);
  const kept = new Set(
    order.slice(0, Math.max(1, Math.round(share * groups.length))).map(({ index }) => index),
  );
  return groups.filter((_, index) => kept.has(index));
}

/** The choice of these alone. */
export function among(groups: readonly RoleOutcomes[]): (episode: Episode, role: Role) => Choice {
  const kept = new Map<Role, Set<Episode>>();
  for (const { role, members } of groups) {
    const ofRole = kept.get(role) ?? new Set();
    for (const episode of members) ofRole.add(episode);
    kept.set(role, ofRole);
  }
  return (episode, role) => {
    const isKept = kept.get(role)?.has(episode) ?? false;
    return { inBaseline: isKept, inLoss: isKept, weight: 1 };
  };
}
