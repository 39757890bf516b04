/** RLOO: each episode against the mean of the others of its group; clipped policy gradient. */

import type { Recipe } from './recipe.ts';

export const rloo: Recipe = {
  name: 'rloo',
  summary: 'each episode against the mean of the others of its group; clipped policy gradient',
  source: 'Back to Basics, arXiv 2402.14740',
  authors: 'REINFORCE on whole sequences, without clipping',
  critic: false,
  settings: { credit: { method: 'rloo' } },
};
