/**
 * REFUEL's episodes: each is played twice, the second time from a random turn of the first on.
 *
 * Source: arXiv 2410.04612.
 * 1. Where a session can be copied, the copy goes on with the same stream of chance, so that twins differ only where their
 *    actions do; where it cannot, all twins start afresh.
 */

import type { Group } from '../../core/episode.ts';
import { keyParts } from '../../core/episode-key.ts';
import { Rng } from '../../core/rng.ts';
import { isTrainable } from '../../core/stop.ts';
import { actOf, type Trajectory } from '../../core/trajectory.ts';
import {
  type CollectOptions,
  episodeOf,
  type GroupRequest,
  gather,
  playEpisodes,
} from '../../rollout/collect.ts';
import { closeForks, type EpisodeRequest, type Fork } from '../../rollout/episode.ts';
import { type Example, turnSide } from './preferences.ts';

/** Groups with every episode, and after them a twin of each that has turns: its member number is higher by the group's size. */
export async function playTwins(
  requests: readonly GroupRequest[],
  options: CollectOptions,
): Promise<Group[]> {
  const forks: Fork[][] = [];
  const episodes = requests.flatMap((group) =>
    Array.from({ length: group.members }, (_, member): EpisodeRequest => {
      const own: Fork[] = [];
      forks.push(own);
      return { ...episodeOf(group, member, options), onFork: (fork) => own.push(fork) };
    }),
  );
  const firsts = await playEpisodes(episodes, options);
  const sizes = new Map(requests.map(({ group, members }) => [group, members]));
  const twins = await playEpisodes(
    firsts.flatMap(({ key, stop, transitions }, index): EpisodeRequest[] => {
      if (!isTrainable(stop) || transitions.length === 0) return [];
      const turn = Rng.of('twin', options.seed, ...keyParts(key)).int(transitions.length);
      const from = forks[index]!.find(({ prefix }) => prefix.place.transition + 1 === turn);
      const { onFork: _, ...request } = episodes[index]!;
      const twin = { ...key, member: key.member + sizes.get(key.group)! };
      return [{ ...request, key: twin, ...(from && { from }) }];
    }),
    options,
  );
  await closeForks(forks.flat());
  return gather(requests, [...firsts, ...twins]);
}

/**
 * Each twin and its first, compared at the turn from which they differ by the rewards of the rest; pairs that took the same
 * action there are left out.
 *
 * @param size of the group, without twins
 */
export function twinPairs(members: readonly Trajectory[], size: number, rewardScale: number): Example[] {
  const byMember = new Map(members.map((episode) => [episode.episode.key.member, episode]));
  return members.flatMap((twin) => {
    const first = byMember.get(twin.episode.key.member - size);
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
