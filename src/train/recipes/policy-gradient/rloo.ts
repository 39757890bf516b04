/** RLOO: each episode against the mean of the others of its group; clipped policy gradient. */

import { clippedLoss } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const rloo = defineRecipe({
  name: 'rloo',
  summary: 'each episode against the mean of the others of its group; clipped policy gradient',
  formula: ['A_i = R_i − mean of the other outcomes of the group', clippedLoss],
  use: 'episodes end in one score, and each task can be played several times; the first recipe to try',
  source: 'Back to Basics, arXiv 2402.14740',
  authors: 'REINFORCE on whole sequences, without clipping',
  settings: { credit: { method: 'rloo' } },
});
