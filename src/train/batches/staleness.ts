/** How old the weights are that a batch was sampled with. */

import type { Group } from '../../core/episode.ts';

/**
 * By how many versions a completion that is trained on is behind the player that wrote it, at most; 0 where none is.
 *
 * @param versions of the weights of each learner, by its name among the players: each publishes as often as it learns
 */
export function olderBy(versions: ReadonlyMap<string, number>, groups: readonly Group[]): number {
  let most = 0;
  for (const { members } of groups)
    for (const { calls } of members)
      for (const { by, trainable } of calls)
        if (trainable === true) most = Math.max(most, (versions.get(by.name) ?? by.version) - by.version);
  return most;
}
