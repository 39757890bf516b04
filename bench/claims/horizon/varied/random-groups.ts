/** A placebo: a random share of the groups is learned from, whether their outcomes vary or not. */

import { defineCuration, z } from 'turnwise';

export const randomGroups = defineCuration({
  name: 'random-groups',
  summary: 'a random share of the groups',
  options: z.strictObject({
    share: z.number().gt(0).max(1).default(0.5).describe('Share of groups that are learned from'),
  }),
  choose(groups, { rng, options: { share } }) {
    const count = Math.max(1, Math.round(share * groups.length));
    const kept = new Set(
      rng
        .shuffle(groups)
        .slice(0, count)
        .flatMap(({ members }) => members),
    );
    return {
      choice: (episode) => {
        const isKept = kept.has(episode);
        return { inBaseline: isKept, inLoss: isKept, weight: isKept ? 1 : 0 };
      },
    };
  },
});
