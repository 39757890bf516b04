/** PPO: token-level GAE with a value head, skipping observation tokens; clipped policy gradient and value loss. */

import { clippedLoss } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const ppo = defineRecipe({
  name: 'ppo',
  summary:
    'token-level GAE with a value head, skipping observation tokens; clipped policy gradient and value loss',
  formula: [
    'δ_t = r_t + γ·V_{t+1} − V_t, A_t = δ_t + γλ·A_{t+1}, over sampled tokens; observation tokens are skipped',
    clippedLoss,
    'value loss = valueCoefficient · ½ Σ weight · (V − return)²',
  ],
  use: 'rewards come along the way and episodes are long, so that a value head can tell which part was good',
  source: 'PPO, arXiv 1707.06347; GAE, arXiv 1506.02438',
  authors:
    'clip 0.2, value clip 0.2, lambda 0.95; common for language models: gamma 1, lambda 1, value clip 0.5',
  critic: true,
  // Returns of tens would let the value loss drown the policy's under the common gradient clip, and a clipped value could
  // not follow them: so rewards are scaled down and the value is free to move.
  settings: {
    rollout: { minimumMembers: 1 },
    credit: { method: 'gae', gamma: 0.99, lambda: 0.95, rewardScale: 0.1 },
    objective: { valueClip: 0, valueWarmup: 3 },
  },
});
