/** REINFORCE++: returns whitened over all sampled tokens of the batch; clipped policy gradient. */

import type { Recipe } from './recipe.ts';

export const reinforcePlusPlus: Recipe = {
  name: 'reinforce++',
  summary: 'returns whitened over all sampled tokens of the batch; clipped policy gradient',
  source: 'REINFORCE++, arXiv 2501.03262',
  authors: 'gamma 1, clip 0.2, KL 0.001 to 0.01 in the reward, one epoch',
  critic: false,
  settings: { credit: { method: 'reinforce++' } },
};
