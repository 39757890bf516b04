/** A placebo: a random half of each group is learned from, whatever its episodes were like. */

import { defineCuration } from 'turnwise';

export const randomHalf = defineCuration({
  name: 'random-half',
  summary: 'a random half of each group',
  choose(groups, { rng }) {
    const kept = new Set(
      groups.flatMap(({ members }) => rng.shuffle(members).slice(0, Math.ceil(members.length / 2))),
    );
    return {
      choice: (episode) => {
        const isKept = kept.has(episode);
        return { inBaseline: isKept, inLoss: isKept, weight: isKept ? 1 : 0 };
      },
    };
  },
});
