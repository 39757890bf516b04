/** Stored episodes of a step as its credit method read them, so that it can be computed again. */

import type { Group } from '../../core/episode.ts';
import { roleGroups, type Trajectory } from '../../core/trajectory.ts';
import { creditTrajectory, storedScores, type TurnScores } from '../../credit/contract/view.ts';
import type { StoredRollout } from '../../credit/report/node/read-rollouts.ts';
import { withAbsentRoles } from '../../curation/absent-roles.ts';

/** The trajectories of all roles, group after group; those that were in no baseline are excluded. */
export function learnedRollouts(groups: readonly Group[], rewardScale: number): StoredRollout[] {
  const all = roleGroups(groups);
  const isIn = ({ episode, role }: Trajectory): boolean => episode.credit?.[role]?.inBaseline === true;
  const left = all.map((group) => ({ ...group, members: group.members.filter(isIn) }));
  const read = new Map(
    withAbsentRoles(left, all).flatMap(({ members }) =>
      members.map((trajectory) => [trajectory.id, trajectory]),
    ),
  );
  return all
    .flatMap(({ members }) => members)
    .filter(({ turns }) => turns.length > 0)
    .map((trajectory) => {
      const found = read.get(trajectory.id);
      const scores_K = scoresOf(trajectory);
      return {
        ...creditTrajectory(found ?? trajectory, rewardScale, scores_K),
        excluded: found === undefined,
      };
    });
}

function scoresOf(trajectory: Trajectory): TurnScores[] {
  const { bonus_K } = trajectory.episode.credit?.[trajectory.role] ?? {};
  return storedScores(trajectory).map((scores, k) => (bonus_K ? { ...scores, bonus: bonus_K[k]! } : scores));
}
