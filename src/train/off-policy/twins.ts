/**
 * REFUEL's episodes: each is played twice, the second time from a random turn of the first on.
 *
 * Source: arXiv 2410.04612.
 * 1. Where a session can be copied, the copy goes on with the same stream of chance, so that twins differ only where their
 *    actions do; where it cannot, all twins start afresh.
 */

import { Rng } from '../../core/rng.ts';
import { isTrainable } from '../../core/stop.ts';
import type { Group, Trajectory } from '../../core/trajectory.ts';
import {
  type CollectOptions,
  episodeOf,
  type GroupRequest,
  gather,
  playEpisodes,
} from '../../rollout/collect.ts';
import type { EpisodeRequest, Fork } from '../../rollout/episode.ts';
import { type Example, turnSide } from './preferences.ts';

/** Groups with every episode, and after them a twin of each that has turns. */
export async function playTwins(
  requests: readonly GroupRequest[],
  options: CollectOptions,
): Promise<Group[]> {
  const forks: Fork[][] = [];
  const episodes = requests.flatMap((group) =>
    Array.from({ length: group.members }, (_, member): EpisodeRequest => {
      const own: Fork[] = [];
      forks.push(own);
      return { ...episodeOf(group, member), onFork: (fork) => own.push(fork) };
    }),
  );
  const firsts = (await playEpisodes(episodes, options)).map(([first]) => first!);
  const again = firsts.flatMap((first, index) => {
    if (!isTrainable(first.stop) || first.turns.length === 0) return [];
    const turn = Rng.of('twin', options.seed, first.id).int(first.turns.length);
    const from = forks[index]!.find(({ seats }) => seats[0]!.turns.length === turn);
    const { onFork: _, ...request } = episodes[index]!;
    return [{ first, request: { ...request, id: `${first.id}/twin`, ...(from && { from }) } }];
  });
  const twins = await playEpisodes(
    again.map(({ request }) => request),
    options,
  );
  return gather(requests, [
    ...firsts,
    ...twins.map(([twin], index) => ({ sharedTurns: 0, ...twin!, parent: again[index]!.first.id })),
  ]);
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
