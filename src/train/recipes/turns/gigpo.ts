/** GiGPO: episodes compared within their group, and turns with turns that acted in the same state. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const gigpo = defineRecipe({
  name: 'gigpo',
  summary: 'grpo, plus turns compared with turns that acted in the same state; clipped policy gradient',
  formula: [...creditFormula('gigpo'), clippedLoss],
  use: 'several episodes of a task reach the same states',
  source: 'arXiv 2505.10978',
  authors: 'groups of 8, 16 tasks, omega 1, gamma 0.95, KL 0.01 (k3), price of 0.1 for invalid actions',
  settings: { credit: { method: 'gigpo' } },
});
