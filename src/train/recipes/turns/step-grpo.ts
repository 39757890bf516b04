/** Step-GRPO: the score of each step against all steps of the group. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const stepGrpo = defineRecipe({
  name: 'step-grpo',
  summary: 'the score of each step against all steps of the group; clipped policy gradient',
  formula: [...creditFormula('step-grpo'), clippedLoss],
  use: 'every step has a score that does not depend on later steps',
  source: 'WebGen-Agent, arXiv 2509.22644',
  authors: 'groups of 5, temperature 1, top-p 0.95, clip 0.2, no KL, gradient clip 0.5',
  settings: { credit: { method: 'step-grpo' } },
});
