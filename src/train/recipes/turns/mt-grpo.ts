/** MT-GRPO: outcomes against the group, plus intermediate rewards for the turns that led to them. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const mtGrpo = defineRecipe({
  name: 'mt-grpo',
  summary: 'outcomes against the group, plus intermediate rewards for the turns that led to them',
  formula: [...creditFormula('mt-grpo'), clippedLoss],
  use: 'some turns earn a reward, such as a tool call with a useful result',
  source: 'arXiv 2505.11821',
  authors: 'lambda 1, groups of 21, no KL, two iterations, gradient clip 0.1',
  needs: { facts: ['turns[].dense'] },
  settings: { credit: { method: 'mt-grpo', form: 'multi-turn' } },
});
