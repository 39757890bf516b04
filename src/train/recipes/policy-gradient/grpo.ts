/** GRPO: each episode against its group, divided by the group’s standard deviation; clipped policy gradient. */

import { clippedLoss } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const grpo = defineRecipe({
  name: 'grpo',
  summary:
    'each episode against its group, divided by the group’s standard deviation; clipped policy gradient',
  formula: ['A_i = (R_i − mean R) / (std R + ε), over the group', clippedLoss],
  use: 'rloo fits, but the scores of some tasks vary much more than the scores of others, or to compare with the literature',
  source: 'DeepSeekMath, arXiv 2402.03300',
  authors:
    'groups of 64, clip 0.2, KL 0.04 (k3) as a loss, epsilon 1e-6; each sequence averaged over its tokens',
  settings: { credit: { method: 'grpo' } },
});
