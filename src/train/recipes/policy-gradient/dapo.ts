/** DAPO: GRPO with a wider upper clip, tasks drawn until groups differ, token-mean loss and a price on length. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const dapo = defineRecipe({
  name: 'dapo',
  summary: 'grpo with clip-higher, dynamic sampling, token-mean loss and a soft penalty for length',
  formula: [
    ...creditFormula('dapo'),
    clippedLoss,
    'groups whose outcomes are all equal are replaced by further tasks',
  ],
  use: 'most groups are unanimous, and playing more episodes is cheaper than learning from half a batch',
  source: 'arXiv 2503.14476',
  authors:
    'groups of 16, 512 tasks, clip 0.2 and 0.28, no KL, longest answer 20480 with a buffer of 4096, no bound on rounds',
  idle: {
    metric: 'groups/constant_share',
    atMost: 0,
    means: 'no group is unanimous, and dynamic sampling replaces none',
  },
  settings: {
    credit: { method: 'dapo' },
    curation: { 'dynamic-sampling': { rounds: 3 } },
    objective: { clipLow: 0.2, clipHigh: 0.28, aggregation: 'token-mean' },
  },
});
