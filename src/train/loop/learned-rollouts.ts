/** Stored episodes of a step as its credit method read them, so that it can be computed again. */

import type { Group, StepCredit } from '../../core/episode.ts';
import { type RoleGroup, roleGroups, type Trajectory } from '../../core/trajectory.ts';
import { creditTrajectory, storedScores, type TurnScores } from '../../credit/contract/view.ts';
import type { StoredRollout } from '../../credit/report/node/read-rollouts.ts';
import { type CreditReport, creditReport } from '../../credit/report/report.ts';
import type { CreditState } from '../../credit/report/rollouts.ts';
import type { CreditCatalogue } from '../../credit/shaping/shapings.ts';
import { withAbsentRoles } from '../../curation/absent-roles.ts';
import { LEARNER } from '../../policy/engine-policy.ts';
import { playerOfRole } from '../kit/seats.ts';

export interface LearnedCredit {
  readonly stored: readonly StoredRollout[];
  readonly report: CreditReport;
}

/**
 * The credit of a stored step as the run computed it: each learner's from its own roles.
 *
 * @throws TurnwiseError those of the method
 */
export function learnedCredit(
  groups: readonly Group[],
  { method, options, shape, rewardScale, state, players }: StepCredit,
  catalogue?: CreditCatalogue,
): LearnedCredit {
  const report = (stored: readonly StoredRollout[], from: CreditState): CreditReport =>
    creditReport(method, options, stored, shape, from, catalogue);
  if (!players) {
    const stored = learnedRollouts(groups, rewardScale);
    return { stored, report: report(stored, state) };
  }
  const states = new Map([[LEARNER, state], ...Object.entries(players)]);
  const stored = learnedRollouts(groups, rewardScale, (name) => states.has(name));
  const playerOf = new Map(allOf(roleGroups(groups)).map((one) => [one.id, playerOfRole(one)]));
  const reports = [...states].map(([name, from]) =>
    report(
      stored.filter(({ id }) => playerOf.get(id) === name),
      from,
    ),
  );
  const byId = new Map(reports.flatMap(({ trajectories }) => trajectories.map((one) => [one.id, one])));
  return { stored, report: { ...reports[0]!, trajectories: stored.map(({ id }) => byId.get(id)!) } };
}

/**
 * The trajectories of all roles, group after group; those that were in no baseline are excluded.
 *
 * @param learns whether a player learns; the roles of others are left out. Default: every one
 */
export function learnedRollouts(
  groups: readonly Group[],
  rewardScale: number,
  learns: (player: string) => boolean = () => true,
): StoredRollout[] {
  const all = roleGroups(groups)
    .map((group) => ({ ...group, members: group.members.filter((one) => learns(playerOfRole(one))) }))
    .filter(({ members }) => members.length > 0);
  const isIn = ({ episode, role }: Trajectory): boolean => episode.credit?.[role]?.inBaseline === true;
  const left = all.map((group) => ({ ...group, members: group.members.filter(isIn) }));
  const read = new Map(allOf(withAbsentRoles(left, all)).map((trajectory) => [trajectory.id, trajectory]));
  return allOf(all)
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

const allOf = (groups: readonly RoleGroup[]): Trajectory[] => groups.flatMap(({ members }) => members);

/** Who sat in the seat of the role. */

function scoresOf(trajectory: Trajectory): TurnScores[] {
  const { bonus_K } = trajectory.episode.credit?.[trajectory.role] ?? {};
  return storedScores(trajectory).map((scores, k) => (bonus_K ? { ...scores, bonus: bonus_K[k]! } : scores));
}
