/** A placebo: as many turns as `perplexity` would keep are learned from, whatever the policy thought of them. */

import { type Call, defineCuration, type Episode, z } from 'turnwise';

/** Mean −log-probability of a call's tokens; those that were forced have 0, and are left out. */
function surpriseOf({ logprobs }: Call): number {
  const chosen = logprobs.filter((logprob) => logprob < 0);
  return chosen.length === 0 ? 0 : -chosen.reduce((sum, logprob) => sum + logprob, 0) / chosen.length;
}

function surprisesOf({ calls, transitions }: Episode): number[] {
  return transitions.flatMap(({ call }) => {
    const own = calls.find(({ id, trainable }) => id === call && trainable === true);
    return own ? [surpriseOf(own)] : [];
  });
}

export const randomTurns = defineCuration({
  name: 'random-turns',
  summary: 'as many turns as lie within a standard deviation of the mean surprise, drawn from all',
  weighs: true,
  options: z.strictObject({}),
  choose(groups, { rng }) {
    const surprises = groups.flatMap(({ members }) => members.flatMap(surprisesOf));
    const count = Math.max(1, surprises.length);
    const mean = surprises.reduce((sum, own) => sum + own, 0) / count;
    const spread = Math.sqrt(surprises.reduce((sum, own) => sum + (own - mean) ** 2, 0) / count);
    const share = surprises.filter((own) => Math.abs(own - mean) <= spread).length / count;
    return {
      choice: ({ transitions }) => ({
        inBaseline: true,
        inLoss: true,
        weight: 1,
        weights_K: transitions.map(() => (rng.chance(share) ? 1 : 0)),
      }),
    };
  },
});
