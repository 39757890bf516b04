/** MARS: self-play with the return from each turn on, against the mean over the turns of its role. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const mars = defineRecipe({
  name: 'mars',
  summary: 'self-play; the return from each turn on against the mean over the turns of its role',
  formula: [...creditFormula('mars'), clippedLoss],
  use: 'several roles play each other, and rewards come along the way',
  source: 'arXiv 2510.15414',
  authors: '384 trajectories a step, KL 0.2, clip 0.2 with dual clip, temperature 0.6',
  needs: { severalRoles: true },
  // Turns are compared over the whole step, not within groups.
  settings: { rollout: { minimumMembers: 1 }, credit: { method: 'mars' } },
});
