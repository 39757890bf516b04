/** DataMind’s mixture: imitation of demonstrations beside policy gradients, with a weight that moves from the first to the second. */

import { sftRl as objective } from '../../../objective/imitation/imitation-mix.ts';
import { policyGradientBeside } from '../../config/blocks.ts';
import { learnMixed } from '../../off-policy/mixtures.ts';
import { remembers } from '../../off-policy/replay.ts';
import { defineRecipe } from '../recipe.ts';

export const sftRl = defineRecipe({
  name: 'sft-rl',
  summary:
    'imitation of demonstrations beside policy gradients, with a weight that moves from the first to the second',
  formula: [
    'loss = (1 − μ) · Σ weight · clipped policy loss − μ · Σ weight · f(π) log π over demonstrations',
    'μ falls along a cosine from peak to valley in decaySteps steps; f is 1, p (1 − p) or p',
  ],
  use: 'you have good demonstrations, and imitating all of them first would leave nothing to explore',
  source: 'DataMind, arXiv 2509.25084; CHORD, arXiv 2508.11408',
  authors: 'peak 0.9, valley 0.05, 350 steps of decay, no warm-up',
  learnsFrom: 'both',
  start: remembers,
  needs: { wholeSteps: true },
  learn: learnMixed,
  reads: policyGradientBeside,
  lossOptions: objective.schema.omit({ policy: true }),
  settings: {
    data: 'demonstrations',
    credit: { method: 'grpo' },
    objective: { options: { decaySteps: 60 } },
  },
});
