/**
 * Which groups are worth learning from: those whose outcomes differ.
 *
 * Sources: dynamic sampling, DAPO, arXiv 2503.14476; keeping the groups whose rewards vary most, Dr.BoT in SPEAR, arXiv
 * 2509.22601, and SimpleTIR, arXiv 2509.02479.
 * 1. DAPO counts right answers; here outcomes are compared, which are the same for rewards of right and wrong.
 */

import { populationStd } from '../core/statistics.ts';
import type { RoleGroup } from '../core/trajectory.ts';

/** Smallest standard deviation of outcomes that counts as a difference. */
const SMALLEST_SPREAD = 1e-3;

function spread({ members }: RoleGroup): number {
  return members.length < 2 ? 0 : populationStd(members.map(({ outcome }) => outcome));
}

/** The groups whose members did not all earn the same, in their order. */
export function informative(groups: readonly RoleGroup[]): RoleGroup[] {
  return groups.filter((group) => spread(group) > SMALLEST_SPREAD);
}

/** The share of groups whose outcomes vary most, at least one, in their order. */
export function mostVaried(groups: readonly RoleGroup[], share: number): RoleGroup[] {
  if (share >= 1) return [...groups];
  const order = groups.map((group, index) => ({ index, spread: spread(group) }));
  order.sort((a, b) => b.spread - a.spread || a.index - b.index);
  const kept = new Set(
    order.slice(0, Math.max(1, Math.round(share * groups.length))).map(({ index }) => index),
  );
  return groups.filter((_, index) => kept.has(index));
}
