/** Groups of a shard that is not necessarily in a run. */

import { readFileSync } from 'node:fs';
import type { Group } from '../../core/episode.ts';
import { groupOf } from './episode-line.ts';
import { headerOf, membersOf, type ShardHeader } from './shard.ts';

/** Stored episodes, and what their file says of itself. */
export interface EpisodeFile {
  readonly groups: readonly Group[];
  readonly header: ShardHeader;
}

/**
 * The groups of a shard; undefined where the file is something else, such as a dataset or trajectories made by hand.
 *
 * @throws TurnwiseError `rollouts-invalid`
 */
export function readEpisodeFile(path: string): EpisodeFile | undefined {
  const bytes = readFileSync(path);
  const header = headerOf(bytes);
  if (!header) return undefined;
  return { groups: [...membersOf(bytes, path)].flatMap(({ episodes }) => groupOf(episodes) ?? []), header };
}
