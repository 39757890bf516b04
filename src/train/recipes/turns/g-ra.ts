/** G-RA: intermediate rewards count only if the outcome passes a gate. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const gRa = defineRecipe({
  name: 'g-ra',
  summary: 'intermediate rewards count only if the outcome passes a gate; then grpo',
  formula: [...creditFormula('g-ra'), clippedLoss],
  use: 'the environment pays for intermediate steps that are possible without solving the task',
  source: 'arXiv 2508.10548',
  authors: 'no gate value is published; completion of a submission is the gate of its software tasks',
  needs: { facts: ['turns[].dense'] },
  settings: { credit: { method: 'g-ra' } },
});
