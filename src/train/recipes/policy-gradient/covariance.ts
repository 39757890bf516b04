/** Clip-Cov and KL-Cov: tokens whose log-probability and advantage move together drive the entropy down; hold them. */

import { clippedLoss, creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const clipCov = defineRecipe({
  name: 'clip-cov',
  summary: 'grpo without the gradient of the few tokens that lower the entropy most',
  formula: [
    ...creditFormula('grpo'),
    'tokens are drawn from those with lower < cov < upper and left out',
    clippedLoss,
  ],
  use: 'entropy collapses early, and an entropy bonus makes answers worse',
  source: 'arXiv 2505.22617',
  authors: 'share 2e-4, covariances between 1 and 5, clip 0.2',
  settings: { credit: { method: 'grpo' }, objective: { name: 'clip-cov' } },
});

export const klCov = defineRecipe({
  name: 'kl-cov',
  summary: 'grpo with a penalty on the tokens that lower the entropy most',
  formula: [...creditFormula('grpo'), lossFormula('kl-cov')],
  use: 'clip-cov holds too hard',
  source: 'arXiv 2505.22617',
  authors: 'share 2e-4 to 2e-3, weight 1',
  settings: { credit: { method: 'grpo' }, objective: { name: 'kl-cov' } },
});
