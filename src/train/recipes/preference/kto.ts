/** KTO: episodes are raised or lowered one by one, by whether they succeeded. */

import { kto as objective } from '../../../objective/preference/kto.ts';
import { preference } from '../../config/blocks.ts';
import { judged } from '../../off-policy/pairs.ts';
import { learnFromPreferences } from '../../off-policy/preferences.ts';
import { remembers } from '../../off-policy/replay.ts';
import { defineRecipe } from '../recipe.ts';

export const kto = defineRecipe({
  name: 'kto',
  summary: 'raises successful episodes and lowers the others, against a moving point of reference',
  formula: [
    'S(τ) = Σ over sampled tokens of (log π − log π_warm start), z = max(0, mean S)',
    'loss = mean of λ_D (1 − σ(β(S − z))) where it succeeded, λ_U (1 − σ(β(z − S))) where not',
  ],
  use: 'you only know whether an episode is good or bad, and each task is played once',
  source: 'KTO, arXiv 2402.01306; M-KTO, arXiv 2409.02392',
  authors: 'beta 0.1, both weights 1; the point of reference is the mean over mismatched completions',
  frozen: true,
  learnsFrom: 'either',
  start: remembers,
  learn: learnFromPreferences({
    examples: (groups) => judged(groups),
    objective: (config) => objective(config.objective.options),
    reference: 'kept',
    why: 'there is no usable episode',
  }),
  reads: preference,
  lossOptions: objective.schema,
  // No group is compared.
  settings: { rollout: { minimumMembers: 1 } },
});
