/** Digi-Q: a critic learns from recorded actions and is frozen; then the policy imitates the best of several actions. */

import { actorCritic, sampling } from '../../config/blocks.ts';
import { digiQOptions, learnDigiQ } from '../../off-policy/digi-q.ts';
import { remembers } from '../../off-policy/replay.ts';
import { defineRecipe } from '../recipe.ts';
import { utteranceHeads } from './archer.ts';

export const digiQ = defineRecipe({
  name: 'digi-q',
  summary:
    'a critic learns from recorded actions and is frozen; the policy imitates the best of several actions',
  formula: [
    'first: Q_j ← r + γ V̄_j(next state), V_j ← Q̄_j(state, recorded action)',
    'then: A_i = pool(Q_1, Q_2)(s, a_i) − pool(V_1, V_2)(s), kept to [0, 1]; loss = −mean 1[A_best > threshold] · Σ log π(a_best)',
  ],
  use: 'you have recorded episodes, and do not trust gradients through a critic of the policy’s choices',
  source: 'Digi-Q, arXiv 2502.15760',
  // The best of many is the one that the critic is most wrong about: with 8 the policy ends below where it starts.
  authors: '16 actions, threshold 0.05 (web shopping) or 0.1, discount 0.95, 1296 recorded episodes',
  criticHeads: utteranceHeads,
  learnsFrom: 'either',
  start: remembers,
  needs: { wholeSteps: true },
  learn: learnDigiQ,
  reads: (plays) => [...actorCritic(plays), sampling, { critic: { candidates: true } }],
  lossOptions: digiQOptions,
  settings: { data: 'demonstrations', rollout: { minimumMembers: 1 }, critic: { warmupSteps: 20 } },
});
