/** MT-GRPO: outcomes against the group, plus what was earned on the way for the turns that led to it. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const mtGrpo = defineRecipe({
  name: 'mt-grpo',
  summary: 'outcomes against the group, plus what was earned on the way for the turns that led to it',
  formula: [...creditFormula('mt-grpo'), clippedLoss],
  use: 'some turns earn a reward of their own, such as a tool call that returned what was needed',
  source: 'arXiv 2505.11821',
  authors: 'lambda 1, groups of 21, no KL, two iterations, gradient clip 0.1',
  needs: { facts: ['turns[].dense'] },
  settings: { credit: { method: 'mt-grpo', form: 'multi-turn' } },
});
