/** PPO: token-level GAE with a value head, skipping observation tokens; clipped policy gradient and value loss. */

import type { Recipe } from './recipe.ts';

export const ppo: Recipe = {
  name: 'ppo',
  summary:
    'token-level GAE with a value head, skipping observation tokens; clipped policy gradient and value loss',
  source: 'PPO, arXiv 1707.06347; GAE, arXiv 1506.02438',
  authors:
    'clip 0.2, value clip 0.2, lambda 0.95; common for language models: gamma 1, lambda 1, value clip 0.5',
  critic: true,
  // Returns of tens would let the value loss drown the policy's under the common gradient clip, and a clipped value could
  // not follow them: so rewards are scaled down and the value is free to move.
  settings: {
    credit: { method: 'gae', gamma: 0.99, lambda: 0.95, rewardScale: 0.1 },
    objective: { valueClip: 0, valueWarmup: 3 },
  },
};
