/** REINFORCE: the return from each turn on, against the mean of the batch; plain policy gradient. */

import { creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const reinforce = defineRecipe({
  name: 'reinforce',
  summary: 'the return from each turn on, against the mean of the batch; plain policy gradient',
  formula: [...creditFormula('reinforce'), lossFormula('policy-gradient')],
  use: 'you want a plain baseline, or rewards come along the way and there is no critic',
  source: 'Williams, Machine Learning 8, 1992',
  authors: 'no clipping, one step a batch; a running mean as baseline',
  settings: {
    rollout: { minimumMembers: 1 },
    credit: { method: 'reinforce', baseline: 'batch' },
    objective: { name: 'policy-gradient' },
    optimizer: { minibatches: 1 },
  },
});
