/** DPO over whole episodes: of every task the best episode is preferred to the worst. */

import { dpo as objective } from '../../../objective/preference/dpo.ts';
import { preference } from '../../config/blocks.ts';
import { bestAndWorst } from '../../off-policy/pairs.ts';
import { learnFromPreferences } from '../../off-policy/preferences.ts';
import { remembers } from '../../off-policy/replay.ts';
import { defineRecipe } from '../recipe.ts';

export const dpo = defineRecipe({
  name: 'dpo',
  summary: 'prefers the best episode of every task to the worst, against the warm start',
  formula: [
    'S(τ) = Σ over sampled tokens of (log π − log π_warm start); observations never count',
    'loss = mean over pairs of −log σ(β · (S(best) − S(worst)))',
  ],
  use: 'you only know which of two episodes is better, or have a set of recorded ones',
  source: 'DPO, arXiv 2305.18290; M-DPO, arXiv 2409.02392',
  authors: 'beta 0.1, learning rate 2e-7, batch 32, one epoch, three iterations with a fresh reference each',
  frozen: true,
  learnsFrom: 'either',
  start: remembers,
  learn: learnFromPreferences({
    examples: (groups) => bestAndWorst(groups),
    objective: (config) => objective(config.objective.options),
    reference: 'kept',
    why: 'no task has two episodes with different returns',
  }),
  reads: preference,
  lossOptions: objective.schema,
});
