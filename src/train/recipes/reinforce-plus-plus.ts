/** REINFORCE++: returns whitened over all sampled tokens of the batch; clipped policy gradient. */

import type { Recipe } from './recipe.ts';

export const reinforcePlusPlus: Recipe = {
  name: 'reinforce++',
  summary: 'returns whitened over all sampled tokens of the batch; clipped policy gradient',
  source: 'REINFORCE++, arXiv 2501.03262',
  critic: false,
  settings: { credit: { method: 'reinforce++' } },
};
