/** What is kept to be learned from again, and how it is drawn. */

import { isPlayedIn } from '../../core/episode-key.ts';
import type { Rng } from '../../core/rng.ts';

import type { RoleGroup, Trajectory } from '../../core/trajectory.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Kept } from '../kit/learn.ts';

/** Episodes that a recipe keeps, oldest first. */
export type Remembered = { readonly kept: readonly Kept[] };

/** Begins with what was recorded, where a run learns from that. */
export const remembers = (recorded: readonly Kept[]): Remembered => ({ kept: recorded });

/** The latest `replay.size` episodes, those that this step played among them; where the run plays none, all that was recorded. */
export function remember(
  { kept }: Remembered,
  groups: readonly RoleGroup[],
  { replay: { size } }: TrainConfig,
): readonly Kept[] {
  if (groups.length === 0) return kept;
  return [...kept, ...playedNow(groups).map(keptAs)].slice(-size);
}

/** What these groups played: what a curation inserted was remembered when it was new. */
export const playedNow = (groups: readonly RoleGroup[]): readonly Trajectory[] =>
  groups.flatMap(({ group, members }) => members.filter(({ episode }) => isPlayedIn(group, episode)));

/** Those of the last `age` steps before `step`: memory that is sized in steps holds the same time whatever a step plays. */
export function recent(kept: readonly Kept[], step: number, age: number): readonly Kept[] {
  return kept.filter(({ episode }) => step - episode.step <= age);
}

/** How an episode is remembered. */
export function keptAs({ episode, role }: Trajectory): Kept {
  return { episode: episode.key, role };
}

/** `count` of the items, none twice; all where there are fewer. */
export function draw<T>(items: readonly T[], count: number, rng: Rng): T[] {
  if (items.length <= count) return [...items];
  const chosen = new Set<number>();
  while (chosen.size < count) chosen.add(rng.int(items.length));
  return [...chosen].map((index) => items[index]!);
}

/** Episodes of the same task, start and role, in the order in which the first of each was played. */
export function byGroup(episodes: readonly Trajectory[]): RoleGroup[] {
  const groups = new Map<string, Trajectory[]>();
  for (const episode of episodes) {
    const id = `${episode.groupId}/${episode.role}`;
    const group = groups.get(id);
    if (group) group.push(episode);
    else groups.set(id, [episode]);
  }
  return [...groups].map(([id, members]) => {
    const { role, episode } = members[0]!;
    const { step, group } = episode.key;
    return { id, role, group: { step, group, members: members.map((member) => member.episode) }, members };
  });
}
