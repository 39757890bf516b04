/** REINFORCE++: returns whitened over all sampled tokens of the batch; clipped policy gradient. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const reinforcePlusPlus = defineRecipe({
  name: 'reinforce++',
  summary: 'returns whitened over all sampled tokens of the batch; clipped policy gradient',
  formula: [
    'R_t = r_t + γ·R_{t+1} over sampled tokens',
    'A_t = (R_t − mean) / std, over all sampled tokens of the batch',
    clippedLoss,
  ],
  use: 'each task can be played only once, or the difference between tasks matters',
  source: 'REINFORCE++, arXiv 2501.03262',
  authors: 'gamma 1, clip 0.2, KL 0.001 to 0.01 in the reward, one epoch',
  settings: { rollout: { minimumMembers: 1 }, credit: { method: 'reinforce++' } },
});

export const reinforcePlusPlusBaseline = defineRecipe({
  name: 'reinforce++-baseline',
  summary:
    'each episode against the mean of its group, whitened over all sampled tokens; clipped policy gradient',
  formula: [...creditFormula('reinforce++-baseline'), clippedLoss],
  use: 'groups are small, and dividing by their spread is too noisy',
  source: 'REINFORCE++, arXiv 2501.03262',
  authors: 'groups of 4 to 16, clip 0.2, KL (k2) as a loss, one epoch',
  settings: { credit: { method: 'reinforce++-baseline' } },
});
