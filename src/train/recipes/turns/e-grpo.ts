/** E-GRPO: wrong answers earn something for the entities that they found. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const eGrpo = defineRecipe({
  name: 'e-grpo',
  summary: 'wrong answers earn a reward for the entities that they found; then grpo',
  formula: [...creditFormula('e-grpo'), clippedLoss],
  use: 'whole groups fail, and the environment knows which parts of the answer they found',
  source: 'arXiv 2510.24694',
  authors: 'alpha 0.3, clip-higher, no KL, mean of each episode over its tokens',
  settings: { credit: { method: 'e-grpo' }, objective: { aggregation: 'sequence-mean-token-mean' } },
});
