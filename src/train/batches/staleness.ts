/** How old the weights are that a batch was sampled with. */

import type { Group } from '../../core/episode.ts';

/** By how many versions the oldest completion that is trained on is behind; 0 where none is. */
export function olderBy(version: number, groups: readonly Group[]): number {
  let oldest = version;
  for (const { members } of groups)
    for (const { calls } of members)
      for (const { by, trainable } of calls) if (trainable === true) oldest = Math.min(oldest, by.version);
  return version - oldest;
}
