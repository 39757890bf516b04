/** CORY: roles that work together share the sum of their outcomes. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const cory = defineRecipe({
  name: 'cory',
  summary: 'every role of an episode earns the sum of all roles’ outcomes; then each against its group',
  formula: [...creditFormula('cory'), clippedLoss, 'the agents exchange roles every few steps'],
  use: 'several roles work together, one after the other, and each has a score',
  source: 'arXiv 2410.06101',
  authors: 'two copies of a model that swap roles every five steps, KL 0.4 (adaptive)',
  needs: { severalRoles: true, cooperative: true },
  settings: { credit: { method: 'cory', baseline: 'group' }, rollout: { exchangeEvery: 5 } },
});
