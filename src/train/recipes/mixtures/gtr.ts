/** GTR: thoughts that a corrector finds wrong are imitated as it has them, beside PPO. */

import { logged, policyGradientBeside, valueHead } from '../../config/blocks.ts';
import { gtrOptions, learnGtr, playCorrected } from '../../off-policy/gtr.ts';
import { remembers } from '../../off-policy/replay.ts';
import { creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const gtr = defineRecipe({
  name: 'gtr',
  summary: 'a corrector rewrites wrong thoughts, and the policy imitates them beside PPO',
  formula: [
    ...creditFormula('turn-gae'),
    'loss = Σ weight · clipped policy loss − imitationCoefficient · mean log π over corrected thoughts + value loss; A · thoughtWeight on sampled thoughts',
    'imitated: corrections of this and the last replayAge steps, after the history that the policy had there (DAgger)',
  ],
  use: 'turns are thoughts and actions, reward comes late, thoughts become empty or alike under PPO, and a corrector knows the right thought',
  source: 'GTR, arXiv 2503.08525',
  authors:
    'released scripts: thought weight 0.5 (Points24) or 0.2 (ALFWorld), imitation weight 1, 4 epochs, learning rate 1e-5 to 1e-9, a large model as corrector, as many corrections as samples in a minibatch, all steps kept',
  critic: true,
  needs: { oneRole: true, corrector: true, wholeSteps: true },
  learnsFrom: 'played',
  play: playCorrected,
  start: remembers,
  learn: learnGtr,
  reads: (plays) => [...policyGradientBeside(plays), valueHead, logged],
  lossOptions: gtrOptions,
  settings: {
    rollout: { minimumMembers: 1 },
    credit: { method: 'turn-gae', gamma: 0.99, lambda: 0.9, rewardScale: 0.1 },
    objective: { valueClip: 0, valueWarmup: 3 },
  },
});
