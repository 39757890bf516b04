/** CISPO: clipped importance weights on the log-likelihood, so that every token keeps a gradient. */

import { creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const cispo = defineRecipe({
  name: 'cispo',
  summary: 'grpo whose ratios are capped as weights, so that no token loses its gradient',
  formula: [...creditFormula('grpo'), lossFormula('cispo')],
  use: 'each batch serves several optimizer steps, and the clip removes rare words that matter',
  source: 'MiniMax-M1, arXiv 2506.13585',
  authors: 'only the upper bound is tuned (a cap of 5 in TRL), token mean over the group, no KL',
  settings: { credit: { method: 'grpo' }, objective: { name: 'cispo' } },
});
