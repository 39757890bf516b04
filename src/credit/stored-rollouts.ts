/** Stored episodes as credit reads them: with what the critic said of them, where that was stored too. */

import type { Group } from '../core/episode.ts';
import { isTrainable } from '../core/stop.ts';
import { roleGroups, sampledTokens, type Trajectory } from '../core/trajectory.ts';
import type { StoredRollout } from './read-rollouts.ts';
import { creditTrajectory, type TurnScores } from './view.ts';

/** The trajectories of all roles, group after group. Those without turns are left out. */
export function storedRollouts(groups: readonly Group[], rewardScale = 1): StoredRollout[] {
  return roleGroups(groups)
    .flatMap(({ members }) => members)
    .filter(({ turns }) => turns.length > 0)
    .map((trajectory) => ({
      ...creditTrajectory(trajectory, rewardScale, scoresOf(trajectory)),
      excluded: !isTrainable(trajectory.stop),
    }));
}

function scoresOf({ episode, role, turns }: Trajectory): TurnScores[] {
  const { values, entropies } = episode.credit?.[role] ?? {};
  let end = 0;
  return turns.map((turn) => {
    const start = end;
    end += sampledTokens(turn);
    return {
      ...(values && { values: values.slice(start, end) }),
      ...(entropies && { entropies: entropies.slice(start, end) }),
    };
  });
}
