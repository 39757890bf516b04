/** SPEAR’s self-imitation: beside fresh episodes the policy’s own good ones are learned from again. */

import { z } from 'zod';
import { selfImitation } from '../../../objective/imitation/self-imitation.ts';
import { logged, policyGradientBeside } from '../../config/blocks.ts';
import { learnSpear } from '../../off-policy/mixtures.ts';
import { defineRecipe } from '../recipe.ts';

export const spearSil = defineRecipe({
  name: 'spear-sil',
  summary: 'group advantages on fresh episodes, and with growing weight on the policy’s own past successes',
  formula: [
    'loss = L_fresh + γ(t) · L_replay, both clipped and with Clip-Cov; γ(t) = coefficient · ½ (1 − cos(π t / warmupSteps))',
    'replayed: episodes with A > 0 when played, and R − median of the kept groups’ means > 0, which is their advantage now',
  ],
  use: 'successes are rare, and the policy should not forget them',
  source: 'SPEAR, arXiv 2509.22601',
  authors:
    'coefficient 1, 100 to 300 steps of warm-up, buffer 2048, episodes of the last 5 steps, clip 0.2 and 0.28, dual clip 10, learning rate 1e-6',
  learnsFrom: 'played',
  start: () => ({ kept: [], means: [] }),
  needs: { wholeSteps: true },
  learn: learnSpear,
  reads: (plays) => [...policyGradientBeside(plays), logged],
  lossOptions: z.strictObject({
    ...selfImitation.schema.omit({ policy: true }).shape,
    replayAge: z.int().min(1).default(5).describe('Steps for which an episode may be replayed'),
  }),
  settings: { credit: { method: 'dr-grpo' }, objective: { dualClip: 10, options: { warmupSteps: 50 } } },
});
