/** GRPO: each episode against its group, divided by the group’s standard deviation; clipped policy gradient. */

import type { Recipe } from './recipe.ts';

export const grpo: Recipe = {
  name: 'grpo',
  summary:
    'each episode against its group, divided by the group’s standard deviation; clipped policy gradient',
  source: 'DeepSeekMath, arXiv 2402.03300',
  critic: false,
  settings: { credit: { method: 'grpo' } },
};
