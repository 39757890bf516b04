/** Groups of a file that is not necessarily in a run: a shard, or episodes as JSON Lines, as `--record` writes them. */

import { readFileSync } from 'node:fs';
import type { Episode, Group } from '../../core/episode.ts';
import { groupOf, parseEpisode, type StoredEpisode } from './episode-line.ts';
import { headerOf, membersOf, type ShardHeader } from './shard.ts';

/** Stored episodes, and what their file says of itself where it is a shard. */
export interface EpisodeFile {
  readonly groups: readonly Group[];
  readonly header?: ShardHeader;
}

/**
 * The groups in a file; undefined where it holds no stored episodes but something else, such as trajectories made by hand.
 *
 * @throws TurnwiseError `rollouts-invalid`
 */
export function readEpisodeFile(path: string): EpisodeFile | undefined {
  const bytes = readFileSync(path);
  const header = headerOf(bytes);
  if (header) {
    const groups = [...membersOf(bytes, path)].flatMap(({ episodes }) => groupOf(episodes) ?? []);
    return { groups, header };
  }
  const lines = bytes.toString('utf8').split('\n');
  const first = lines.find((line) => line.trim() !== '');
  if (first === undefined || !isEpisode(first)) return undefined;
  const stored = lines.flatMap((line, index) =>
    line.trim() === '' ? [] : [parseEpisode(line, `${path}, line ${index + 1}`)],
  );
  return { groups: gathered(stored) };
}

function isEpisode(line: string): boolean {
  try {
    const value = JSON.parse(line) as Partial<Episode> | null;
    return Array.isArray(value?.calls) && Array.isArray(value.transitions);
  } catch {
    return false;
  }
}

/** Episodes by label, step and group, in the order in which the first of each stands in the file. */
function gathered(stored: readonly StoredEpisode[]): Group[] {
  const groups = new Map<string, StoredEpisode[]>();
  for (const one of stored) {
    const { step, group } = one.joined ?? one.episode.key;
    const name = `${one.label ?? ''}/${one.episode.key.split}/${step}/${group}`;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups.values()].flatMap((members) => groupOf(members) ?? []);
}
