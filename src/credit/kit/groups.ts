/** Comparing trajectories with the others of their group. */

import type { CreditTrajectory, TrajectoryCredit } from '../report/rollouts.ts';

/** Maps every item to a number computed from all items that share its key, keeping the order of the items. */
export function withinGroups<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  compare: (members: readonly Item[]) => readonly number[],
): number[] {
  const indices = new Map<string, number[]>();
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    const members = indices.get(key);
    if (members) members.push(index);
    else indices.set(key, [index]);
  }
  const results = new Array<number>(items.length);
  for (const members of indices.values()) {
    const compared = compare(members.map((index) => items[index]!));
    for (const [position, index] of members.entries()) results[index] = compared[position]!;
  }
  return results;
}

/** Trajectories are compared when they share group and role: two roles of one game have different expected returns. */
export function groupKey(trajectory: CreditTrajectory): string {
  return JSON.stringify([trajectory.groupId, trajectory.role]);
}

/**
 * One advantage per trajectory from the outcomes of its group. A group of one has nothing to be compared with: 0 (some
 * implementations give the raw outcome there).
 */
export function compareOutcomes(
  trajectories: readonly CreditTrajectory[],
  compare: (outcomes_G: readonly number[]) => readonly number[],
): number[] {
  return withinGroups(trajectories, groupKey, (members) =>
    members.length === 1 ? [0] : compare(members.map((member) => member.outcome)),
  );
}

/** The same advantage for every turn of a trajectory. */
export function broadcastToTurns(
  trajectories: readonly CreditTrajectory[],
  advantages: readonly number[],
): TrajectoryCredit[] {
  return trajectories.map(({ id, turns }, index) => ({
    id,
    turnAdvantages_K: turns.map(() => advantages[index]!),
  }));
}
