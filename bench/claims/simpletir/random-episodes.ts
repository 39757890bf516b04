/** A placebo: as many episodes of a step are left out of the loss as have a void turn, but any of them. */

import { defineCuration, z } from 'turnwise';

export const randomEpisodes = defineCuration({
  name: 'random-episodes',
  summary: 'leaves out as many episodes as have a void turn, drawn at random',
  options: z.strictObject({}),
  choose(groups, { rng }) {
    const episodes = groups.flatMap(({ members }) => members);
    const isVoid = episodes.filter(({ transitions }) => transitions.some(({ valid }) => !valid));
    const dropped = new Set(rng.shuffle(episodes).slice(0, isVoid.length));
    return { choice: (episode) => ({ inBaseline: true, inLoss: !dropped.has(episode), weight: 1 }) };
  },
});
