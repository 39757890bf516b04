/** Many episodes at once, gathered into groups. */

import { setMaxListeners } from 'node:events';
import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { isTrainable } from '../core/stop.ts';
import type { Group, Trajectory } from '../core/trajectory.ts';
import { withoutIds } from '../core/without-ids.ts';
import type { Lockstep } from '../policy/lockstep.ts';
import { type EpisodeOptions, type EpisodeRequest, runEpisode } from './episode.ts';

/** One episode, as one trajectory for each role. */
export type Play = (request: EpisodeRequest, options: EpisodeOptions) => Promise<Trajectory[]>;

export interface CollectOptions extends EpisodeOptions {
  readonly lockstep: Lockstep;
  /** Plays an episode whose code is its own, such as an agent's. Default: `runEpisode`. */
  readonly play?: Play;
  /** Episodes under way at once. */
  readonly concurrency: number;
  readonly onEpisode?: (done: number, total: number) => void;
}

export interface GroupRequest {
  readonly id: string;
  readonly task: Json;
  /** Episodes of the task (G). */
  readonly members: number;
}

/** Play every group's episodes. Groups come back in the order they were asked for, one for each task and role. */
export async function collectGroups(
  requests: readonly GroupRequest[],
  options: CollectOptions,
): Promise<Group[]> {
  const episodes = requests.flatMap((group) =>
    Array.from({ length: group.members }, (_, member) => episodeOf(group, member)),
  );
  const results = await playEpisodes(episodes, options);
  return gather(requests, results.flat());
}

/** One of a group's episodes. */
export function episodeOf({ id, task }: GroupRequest, member: number): EpisodeRequest {
  return { id: `${id}/${member}`, groupId: id, task };
}

/** Play episodes, so many at once; per episode its trajectories, one for each role. */
export async function playEpisodes(
  episodes: readonly EpisodeRequest[],
  options: CollectOptions,
): Promise<Trajectory[][]> {
  const { lockstep, signal, play = runEpisode } = options;
  const results: Trajectory[][] = new Array(episodes.length);
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < episodes.length; index = next++) {
      results[index] = await play(episodes[index]!, options);
      options.onEpisode?.(++done, episodes.length);
    }
    lockstep.leave();
  };
  const workers = Math.min(options.concurrency, episodes.length);
  // Every episode under way listens for Ctrl-C.
  setMaxListeners(0, signal);
  // All enter before any starts, or the first to wait would find itself alone and be served alone.
  for (let i = 0; i < workers; i++) lockstep.enter();
  await Promise.all(Array.from({ length: workers }, worker));
  if (signal.aborted) throw new TurnwiseError('cancelled', { what: 'The run was asked to stop' });
  return results;
}

/** Trajectories by group, in the order of the requests and, where there are several roles, of the roles. */
export function gather(requests: readonly GroupRequest[], trajectories: readonly Trajectory[]): Group[] {
  const tasks = new Map(requests.map(({ id, task }) => [id, task]));
  const groups = new Map<string, { id: string; task: Json; members: Trajectory[] }>();
  for (const trajectory of trajectories) {
    const { groupId, role } = trajectory;
    const task = tasks.get(groupId) ?? tasks.get(groupId.slice(0, -role.length - 1)) ?? null;
    const group = groups.get(groupId) ?? { id: groupId, task, members: [] };
    group.members.push(trajectory);
    groups.set(groupId, group);
  }
  return [...groups.values()];
}

/** Episodes that failed, timed out or were cancelled, by what they said but for ids: for warnings. */
export function failuresOf(episodes: readonly Trajectory[]): Map<string, number> {
  const failures = new Map<string, number>();
  const kinds = new Map<string, string>();
  for (const { id, stop, failure = '' } of episodes) {
    if (isTrainable(stop)) continue;
    const place = /(<episode>|\S+\/\d+\/\d+)( turn \d+)?/;
    const general = failure.replaceAll(id, '<episode>').replace(place, '<episode>');
    const whole = `${stop}: ${general}`;
    const kind = withoutIds(whole);
    const text = kinds.get(kind) ?? whole;
    kinds.set(kind, text);
    failures.set(text, (failures.get(text) ?? 0) + 1);
  }
  return failures;
}
