/** Many episodes at once, gathered into groups. */

import { setMaxListeners } from 'node:events';
import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { isTrainable } from '../core/stop.ts';
import type { Group, Trajectory } from '../core/trajectory.ts';
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
  const { lockstep, signal, play = runEpisode } = options;
  const episodes = requests.flatMap((group) =>
    Array.from({ length: group.members }, (_, member) => ({ group, id: `${group.id}/${member}` })),
  );
  const results: Trajectory[][] = new Array(episodes.length);
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < episodes.length; index = next++) {
      const { group, id } = episodes[index]!;
      results[index] = await play({ id, groupId: group.id, task: group.task }, options);
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

  const groups = new Map<string, { id: string; task: Json; members: Trajectory[] }>();
  for (const [index, trajectories] of results.entries()) {
    for (const trajectory of trajectories) {
      const task = episodes[index]!.group.task;
      const group = groups.get(trajectory.groupId) ?? { id: trajectory.groupId, task, members: [] };
      group.members.push(trajectory);
      groups.set(trajectory.groupId, group);
    }
  }
  return [...groups.values()];
}

/** Episodes that failed, timed out or were cancelled, by what they said: for warnings. */
export function failuresOf(episodes: readonly Trajectory[]): Map<string, number> {
  const failures = new Map<string, number>();
  for (const { id, stop, failure = '' } of episodes) {
    if (isTrainable(stop)) continue;
    const general = failure.replaceAll(id, '<episode>').replace(/\S+\/\d+\/\d+( turn \d+)?/, '<episode>');
    const text = `${stop}: ${general}`;
    failures.set(text, (failures.get(text) ?? 0) + 1);
  }
  return failures;
}
