/**
 * REFUEL's episodes: each is played twice, the second time from a random turn of the first on.
 *
 * Source: arXiv 2410.04612.
 * 1. Both go on with the same stream of chance, so that they differ only where their actions do; the paper's users are sampled anew.
 */

import { Rng } from '../../core/rng.ts';
import { isTrainable } from '../../core/stop.ts';
import type { Group, Trajectory } from '../../core/trajectory.ts';
import { type CollectOptions, collectGroups, type GroupRequest } from '../../rollout/collect.ts';
import { type Example, turnSide } from './preferences.ts';

/** Groups with every episode, and after them a twin of each that has turns. */
export async function playTwins(
  requests: readonly GroupRequest[],
  options: CollectOptions,
): Promise<Group[]> {
  const firsts = await collectGroups(requests, options);
  const byId = new Map(firsts.map((group) => [group.id, group]));
  const again = requests.map((request) => {
    const members = (byId.get(request.id)?.members ?? []).filter(
      ({ stop, turns }) => isTrainable(stop) && turns.length > 0,
    );
    const continues = members.map((episode) => ({
      episode,
      turns: Rng.of('twin', options.seed, episode.id).int(episode.turns.length),
    }));
    return { ...request, members: continues.length, continues };
  });
  const twins = new Map((await collectGroups(again, options)).map(({ id, members }) => [id, members]));
  return firsts.map((group) => ({ ...group, members: [...group.members, ...(twins.get(group.id) ?? [])] }));
}

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
    if (!first || !one || !two || one.ids.join() === two.ids.join()) return [];
    const side = (episode: Trajectory) => turnSide(episode, turn, rewardScale * rewardsFrom(episode, turn));
    return [[side(first), side(twin)] as const];
  });
}

function rewardsFrom({ turns }: Trajectory, first: number): number {
  return turns.slice(first).reduce((sum, { reward }) => sum + reward, 0);
}
