/** EARL: each turn against what would have happened without it. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const earl = defineRecipe({
  name: 'earl',
  summary: 'outcome minus the outcome of a continuation without the turn, if one was played',
  formula: [...creditFormula('earl'), clippedLoss],
  use: 'the environment can continue from a state with another action',
  source: 'EARL, arXiv 2510.07581',
  authors: 'counterfactual continuations of a share of the turns; further settings were not found',
  settings: { credit: { method: 'earl' } },
});
