/** On-policy distillation: a teacher scores the policy's own episodes, and each token is paid the reverse KL. */

import { policyGradient, taught } from '../../config/blocks.ts';
import { teacherGaps } from '../../kit/teacher-gaps.ts';
import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

/**
 * 1. The loss is the clipped one of the settings; Thinking Machines Lab uses importance sampling without a clip
 *    (`objective.name=importance-sampling`).
 */
export const onPolicyDistillation = defineRecipe({
  name: 'on-policy-distillation',
  summary:
    'a teacher scores the tokens of the policy’s own episodes, and the policy moves towards it by reverse KL',
  formula: [...creditFormula('teacher-kl'), clippedLoss],
  use: 'a better model can score the episodes: a run, a larger model of the same tokenizer, a server that tells the log-probabilities of prompts',
  source: '"On-Policy Distillation", Thinking Machines Lab, 2025; GKD, arXiv 2306.13649',
  authors: 'discount 0, importance sampling without a clip, LoRA of rank 128, 4 samples of a prompt',
  needs: { teacher: 'always' },
  turnFacts: teacherGaps,
  reads: (plays) => [...policyGradient(plays), taught],
  // No group is compared.
  settings: { rollout: { minimumMembers: 1 }, credit: { method: 'teacher-kl' } },
});
