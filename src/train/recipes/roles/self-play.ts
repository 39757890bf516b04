/** Self-play: one policy plays every role; each role’s return against a moving baseline of its own. */

import { clippedLoss } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const selfPlay = defineRecipe({
  name: 'self-play',
  summary:
    'one policy plays every role; return against a moving baseline of each role; clipped policy gradient',
  formula: ['b_role ← α·b_role + (1 − α)·R, A = R − b_role with b_role read before its update', clippedLoss],
  use: 'several roles play each other with the same weights',
  source: 'SPIRAL (role-conditioned advantage estimation), arXiv 2506.24119',
  authors:
    'baseline decay 0.95, gamma 1, 128 rollouts, two epochs, constant learning rate 1e-6, no KL, constant-length loss',
  needs: { severalRoles: true },
  // No group is compared.
  settings: { rollout: { minimumMembers: 1 }, credit: { method: 'rae' } },
});
