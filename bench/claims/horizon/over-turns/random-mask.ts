/** A placebo: as many episodes of a group as ran out of turns set the baseline and are not learned from, whichever they are. */

import { defineCuration, type Episode, z } from 'turnwise';

export const randomMask = defineCuration({
  name: 'random-mask',
  summary: 'as many episodes as ran out of turns are not learned from, drawn from all',
  options: z.strictObject({}),
  choose(groups, { rng }) {
    const masked = new Set<Episode>(
      groups.flatMap(({ members }) => {
        const over = members.filter(({ stop }) => stop === 'turn-limit' || stop === 'early-stop').length;
        return rng.shuffle(members).slice(0, over);
      }),
    );
    return {
      choice: (episode) => ({ inBaseline: true, inLoss: !masked.has(episode), weight: 1 }),
    };
  },
});
