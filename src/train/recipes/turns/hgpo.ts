/** HGPO: turns compared with turns in the same state, with more weight on equal histories. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const hgpo = defineRecipe({
  name: 'hgpo',
  summary: 'turns compared with turns in the same state, with more weight on equal histories',
  formula: [...creditFormula('hgpo'), clippedLoss],
  use: 'states repeat, but their history matters and is in the context',
  source: 'arXiv 2602.22817',
  authors: 'memory of 2 or 4 states, alpha 1, gamma 0.95, groups of 8, KL 0.01',
  settings: { credit: { method: 'hgpo' } },
});
