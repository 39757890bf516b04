/** Stored episodes as `turnwise credit` reads them. */

import type { Group } from '../../core/episode.ts';
import { isTrainable } from '../../core/stop.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { creditTrajectory, storedScores } from '../contract/view.ts';
import type { StoredRollout } from './node/read-rollouts.ts';

/** The trajectories of all roles, group after group. Those without turns are left out. */
export function storedRollouts(groups: readonly Group[]): StoredRollout[] {
  return roleGroups(groups)
    .flatMap(({ members }) => members)
    .filter(({ turns }) => turns.length > 0)
    .map((trajectory) => ({
      ...creditTrajectory(trajectory, 1, storedScores(trajectory)),
      excluded: !isTrainable(trajectory.stop),
    }));
}
