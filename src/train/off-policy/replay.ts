/** What is kept to be learned from again, and how it is drawn. */

import type { Rng } from '../../core/rng.ts';
import type { Group, Trajectory } from '../../core/trajectory.ts';
import type { TrainConfig } from '../config.ts';
import type { Memory, Replayed } from '../learn.ts';

/** The latest `replay.size` episodes, those of this step among them; where the run plays none, all that was recorded. */
export function remember(
  { replay }: Memory,
  groups: readonly Group[],
  { replay: { size } }: TrainConfig,
): readonly Replayed[] {
  if (groups.length === 0) return replay;
  return [...replay, ...groups.flatMap(({ members }) => members.map(lean))].slice(-size);
}

/** Those played in the last `age` steps: memory that is sized in steps holds the same time whatever a step plays. */
export function recent<T extends { readonly policyVersion: number }>(
  kept: readonly T[],
  version: number,
  age: number,
): readonly T[] {
  return kept.filter(({ policyVersion }) => version - policyVersion <= age);
}

/** What learning reads of an episode: not the messages, which are in the ids, nor what else the environment said. */
export function lean({ turns, ...episode }: Trajectory): Replayed {
  return { ...episode, turns: turns.map(({ info: _, ...turn }) => ({ ...turn, messages: [] })) };
}

/** `count` of the items, none twice; all where there are fewer. */
export function draw<T>(items: readonly T[], count: number, rng: Rng): T[] {
  if (items.length <= count) return [...items];
  const chosen = new Set<number>();
  while (chosen.size < count) chosen.add(rng.int(items.length));
  return [...chosen].map((index) => items[index]!);
}

/** Episodes of the same task, start and role, in the order in which the first of each was played; tasks are not kept. */
export function byGroup(episodes: readonly Trajectory[]): Group[] {
  const groups = new Map<string, Trajectory[]>();
  for (const episode of episodes) {
    const group = groups.get(episode.groupId);
    if (group) group.push(episode);
    else groups.set(episode.groupId, [episode]);
  }
  return [...groups].map(([id, members]) => ({ id, task: null, members }));
}
