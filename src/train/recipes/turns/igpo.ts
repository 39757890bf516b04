/** IGPO: what a turn adds to the probability of the right answer is its reward. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const igpo = defineRecipe({
  name: 'igpo',
  summary: 'information gain of each turn and the outcome, compared within the group',
  formula: [...creditFormula('igpo'), clippedLoss],
  use: 'turns gather information, and the environment knows the probability of the right answer',
  source: 'arXiv 2510.14967',
  authors: 'groups of 16, ten turns, gamma 1, KL 0.001 (k3)',
  settings: { credit: { method: 'igpo' } },
});
