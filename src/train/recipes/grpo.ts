/** GRPO: each episode against its group, divided by the group’s standard deviation; clipped policy gradient. */

import type { Recipe } from './recipe.ts';

export const grpo: Recipe = {
  name: 'grpo',
  summary:
    'each episode against its group, divided by the group’s standard deviation; clipped policy gradient',
  source: 'DeepSeekMath, arXiv 2402.03300',
  authors:
    'groups of 64, clip 0.2, KL 0.04 (k3) as a loss, epsilon 1e-6; each sequence averaged over its tokens',
  critic: false,
  settings: { credit: { method: 'grpo' } },
};
