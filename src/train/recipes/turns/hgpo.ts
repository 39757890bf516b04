/** HGPO: turns compared with turns in the same state, and more so with those of the same history. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const hgpo = defineRecipe({
  name: 'hgpo',
  summary: 'turns compared with turns in the same state, more so where the turns before agree too',
  formula: [...creditFormula('hgpo'), clippedLoss],
  use: 'states repeat, but what came before them matters and is remembered',
  source: 'arXiv 2602.22817',
  authors: 'memory of 2 or 4 states, alpha 1, gamma 0.95, groups of 8, KL 0.01',
  settings: { credit: { method: 'hgpo' } },
});
