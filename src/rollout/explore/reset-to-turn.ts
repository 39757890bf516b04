/** REFUEL's episodes (arXiv 2410.04612): each is played twice, the second time from a random turn of the first on. */

import { keyText } from '../../core/episode-key.ts';
import { isTrainable } from '../../core/stop.ts';
import type { Explorer } from './tree.ts';
import { isWhole } from './unsure-places.ts';

/**
 * A twin for every episode: from one of its turns on, drawn uniformly, with the chance that the first one met there, so that
 * the two differ only where their actions do. A group gets twice the episodes that the run asks for.
 *
 * @example
 * defineRecipe({ name: 'mine', act: () => resetToTurnExplorer });
 */
export const resetToTurnExplorer: Explorer = {
  keeps: isWhole,
  next({ members, episodes, kept, rounds }, rng) {
    if (rounds.length === 0) return [{ from: 'start', members }];
    if (rounds.length > 1) return 'done';
    return episodes.flatMap(({ key, stop, transitions }) => {
      if (!isTrainable(stop) || transitions.length === 0) return [];
      const later = kept.filter(
        ({ episode, transition }) => keyText(episode) === keyText(key) && transition < transitions.length - 1,
      );
      const from = rng.pick([{ episode: key, transition: -1 }, ...later]);
      return [{ from, members: 1, chance: 'same' }];
    });
  },
};
