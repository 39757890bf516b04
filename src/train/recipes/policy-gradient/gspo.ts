/** GSPO: one ratio for a whole sequence, or for each turn, clipped as one. */

import { creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const gspo = defineRecipe({
  name: 'gspo',
  summary: 'grpo with one clipped ratio for each sequence instead of each token',
  formula: [...creditFormula('grpo'), lossFormula('gspo')],
  use: 'token ratios are noisy, as with mixtures of experts or long answers',
  source: 'arXiv 2507.18071',
  authors: 'clip 3e-4 and 4e-4, no KL, four minibatches a batch, each sequence averaged over its tokens',
  settings: {
    credit: { method: 'grpo' },
    objective: { name: 'gspo', aggregation: 'sequence-mean-token-mean' },
    optimizer: { minibatches: 4 },
  },
});
