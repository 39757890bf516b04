/** REINFORCE++: returns whitened over all sampled tokens of the batch; clipped policy gradient. */

import { clippedLoss } from './formulas.ts';
import type { Recipe } from './recipe.ts';

export const reinforcePlusPlus: Recipe = {
  name: 'reinforce++',
  summary: 'returns whitened over all sampled tokens of the batch; clipped policy gradient',
  formula: [
    'R_t = r_t + γ·R_{t+1} over sampled tokens',
    'A_t = (R_t − mean) / std, over all sampled tokens of the batch',
    clippedLoss,
  ],
  use: 'only one episode can be played of each task, or the difference between tasks matters',
  source: 'REINFORCE++, arXiv 2501.03262',
  authors: 'gamma 1, clip 0.2, KL 0.001 to 0.01 in the reward, one epoch',
  critic: false,
  settings: { credit: { method: 'reinforce++' } },
};
