/** Bi-level GAE: a discount between turns, and token-level credit inside each. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const biLevelGae = defineRecipe({
  name: 'bi-level-gae',
  summary: 'a discount between turns, and token-level credit inside each turn; value head',
  formula: [...creditFormula('bi-level-gae'), clippedLoss],
  use: 'turns earn rewards and have several tokens each',
  source: 'VAGEN, arXiv 2510.16907',
  authors: 'token gamma 1, lambda 1, turn gamma 0.95, KL 0.001 (k2), batches of 128 in four parts',
  critic: true,
  settings: {
    rollout: { minimumMembers: 1 },
    credit: { method: 'bi-level-gae', rewardScale: 0.1 },
    objective: { valueClip: 0, valueWarmup: 3 },
  },
});
