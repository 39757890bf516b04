/** An engine whose reward is a number of its own for every beginning, so that a place that is off by one is seen. */

import type { Engine } from '../../engine/engine.ts';
import { REWARD_HEAD } from '../../objective/critic/bradley-terry.ts';

/** What it says after these tokens. */
export const rewardAfter = (ids: ArrayLike<number>): number =>
  Array.from(ids).reduce((sum, id, index) => (31 * sum + id + index + 1) % 9973, 0);

export const prefixRewards: Pick<Engine, 'score'> = {
  score: async ({ rows }) => ({
    logprobs: [],
    heads: {
      [REWARD_HEAD]: rows.map(({ ids_T }) =>
        Float32Array.from(ids_T, (_, token) => rewardAfter(ids_T.subarray(0, token))),
      ),
    },
  }),
};
