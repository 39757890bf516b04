/** REFUEL's pairs: an episode and its twin, which went on from one of its turns (arXiv 2410.04612). */

import { actOf, type Trajectory } from '../../core/trajectory.ts';
import { type Example, turnSide } from './preferences.ts';

/**
 * Each twin and its first, compared at the turn from which they differ by the rewards of the rest; pairs that took the same
 * action there are left out.
 */
export function twinPairs(members: readonly Trajectory[], rewardScale: number): Example[] {
  const byId = new Map(members.map((episode) => [episode.id, episode]));
  return members.flatMap((twin) => {
    const first = twin.parent === undefined ? undefined : byId.get(twin.parent);
    const turn = twin.sharedTurns ?? 0;
    const [one, two] = [first?.turns[turn], twin.turns[turn]];
    if (!first || !one || !two || actOf(one)?.ids.join() === actOf(two)?.ids.join()) return [];
    const side = (episode: Trajectory) => turnSide(episode, turn, rewardScale * rewardsFrom(episode, turn));
    return [[side(first), side(twin)] as const];
  });
}

function rewardsFrom({ turns }: Trajectory, first: number): number {
  return turns.slice(first).reduce((sum, { reward }) => sum + reward, 0);
}
