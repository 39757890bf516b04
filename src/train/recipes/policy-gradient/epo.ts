/** EPO: an entropy bonus that holds entropies near where they were at the same turn of earlier episodes. */

import { clippedLoss, creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const epo = defineRecipe({
  name: 'epo',
  summary: 'grpo with an entropy bonus that is smoothed towards earlier entropies of the same turn',
  formula: [...creditFormula('grpo'), clippedLoss, lossFormula('entropy-smoothing').replace('loss =', '+')],
  use: 'episodes of thirty turns and more pay at the end only, and entropy first collapses and then grows without bound',
  source: 'arXiv 2509.22576',
  authors: 'entropy weight 0.001, smoothing 1, size 0.1, bounds 0.8 and 1.2, groups of 8',
  settings: { credit: { method: 'grpo' }, objective: { entropyCoefficient: 0.001, entropySmoothing: 1 } },
});
