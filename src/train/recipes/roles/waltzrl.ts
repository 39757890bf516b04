/** WaltzRL: feedback is paid for how much the next response improves. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const waltzRl = defineRecipe({
  name: 'waltzrl',
  summary: 'feedback earns the improvement of the next response; whitened for each role',
  formula: [...creditFormula('waltzrl'), clippedLoss],
  use: 'one role answers and another gives feedback, and each answer has a score',
  source: 'arXiv 2510.08240',
  authors: 'alpha 0.65, gamma 0.1, KL 0.01, clip 0.2, one round of feedback',
  needs: { severalRoles: true, roles: ['conversation', 'feedback'] },
  // Turns are compared over the whole step, not within groups.
  settings: { rollout: { minimumMembers: 1 }, credit: { method: 'waltzrl' } },
});
