/** REBEL: the difference of two episodes’ log-ratios is regressed on the difference of their rewards. */

import { rebel as objective } from '../../../objective/preference/rebel.ts';
import { preference, scaledRewards } from '../../config/blocks.ts';
import { twoByTwo } from '../../off-policy/pairs.ts';
import { learnFromPreferences } from '../../off-policy/preferences.ts';
import { remembers } from '../../off-policy/replay.ts';
import { defineRecipe } from '../recipe.ts';

export const rebel = defineRecipe({
  name: 'rebel',
  summary: 'regresses differences of log-ratios on differences of returns, episode by episode',
  formula: [
    'Δ(τ) = Σ over sampled tokens of (log π − log π_sampling)',
    'loss = mean over pairs of (Δ(τ) − Δ(τ′) − η · (R(τ) − R(τ′)))²',
  ],
  use: 'rloo fits, but you want a squared error instead of clipping',
  source: 'REBEL, arXiv 2404.16767',
  authors: 'eta 1, 4 epochs, learning rate 3e-6, batch 512, temperature 0.7',
  frozen: true,
  start: remembers,
  learn: learnFromPreferences({
    examples: (groups, config) => twoByTwo(groups, config.credit.rewardScale),
    objective: (config) => objective(config.objective.options),
    reference: 'kept',
    why: 'no task has two usable episodes',
  }),
  reads: (plays) => [...preference(plays), scaledRewards],
  lossOptions: objective.schema,
});
