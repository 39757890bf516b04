/** Dr. GRPO: group differences undivided, and token losses divided by a constant instead of each length. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const drGrpo = defineRecipe({
  name: 'dr-grpo',
  summary: 'each episode against the mean of its group, undivided; token losses over a constant length',
  formula: [
    ...creditFormula('dr-grpo'),
    clippedLoss,
    'weight = 1 / (rows · constant), the constant by default the turn limit times the longest turn in tokens',
  ],
  use: 'grpo makes answers longer, or tasks that are nearly solved or nearly hopeless should not count for more',
  source: 'arXiv 2503.20783',
  authors: 'constant 3000 (the longest answer), clip 0.2, no KL, groups of 8',
  settings: { credit: { method: 'dr-grpo' }, objective: { aggregation: 'sequence-sum-constant' } },
});
