/** SPA-RL: an estimator divides the outcome among the turns. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const spaRl = defineRecipe({
  name: 'spa-rl',
  summary: 'an estimator learns to divide the outcome among turns; returns from each turn on',
  formula: [...creditFormula('spa-rl'), clippedLoss],
  use: 'one score at the end of long episodes, in states that repeat over the run',
  source: 'arXiv 2505.20732',
  authors: 'alpha 1, beta 0.5, a language model as estimator, token-level PPO',
  // The estimator learns from all episodes of the run, and turns are compared over the whole step.
  settings: { rollout: { minimumMembers: 1 }, credit: { method: 'spa-rl' } },
});
