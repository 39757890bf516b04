/** A token earns what a teacher finds it likelier than the policy did: the reverse KL, token by token. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { missingField } from '../../contract/needs.ts';
import { creditTokens, flatTokens, tokenStarts } from '../../kit/tokens.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { outcomesAgainstOthers } from '../group/rloo.ts';

export const teacherKl: CreditMethod = defineCreditMethod(
  {
    name: 'teacher-kl',
    title: 'Reverse KL to a teacher',
    summary:
      'each token earns its log-probability by a teacher, minus that by the policy; the outcome beside it, if wanted',
    formula: `A_t = -coefficient · Σ_{u ≥ t} γ^(u-t) g_u + outcome · A_i,   g_u = log π_old(u) - log π_teacher(u)
A_i = R_i - mean of the other R of the group`,
    source:
      '"On-Policy Distillation", Thinking Machines Lab, 2025; GKD, arXiv 2306.13649; MiniLLM, arXiv 2306.08543',
    deviations: [
      'g is the reverse KL of one sampled token. Its mean over samples is the KL; GKD computes that from whole distributions.',
      'With γ = 0, the default, a token answers for itself alone, as in the description of Thinking Machines Lab. With γ = 1 it answers for all that comes after it in the episode, observations skipped: the gradient of the KL of whole episodes, as in MiniLLM, with more variance.',
    ],
    level: 'token',
    needs: ['turns[].teacherGaps'],
    ownRewards: true,
  },
  z.strictObject({
    coefficient: z.number().min(0).default(1).describe('Weight of the reverse KL.'),
    gamma: z.number().min(0).max(1).default(0).describe('Discount of the gaps of later tokens.'),
    outcome: z.number().min(0).default(0).describe('Weight of the outcome, compared within the group.'),
  }),
  ({ coefficient, gamma, outcome }) =>
    (trajectories, state) => {
      const starts = tokenStarts(trajectories);
      const gaps = flatTokens(trajectories, gapsOf, starts);
      const compared = outcome > 0 ? outcomesAgainstOthers(trajectories) : undefined;
      const advantages = new Float64Array(gaps.length);
      for (let index = 0; index < trajectories.length; index++) {
        let later = 0;
        for (let t = starts[index + 1]! - 1; t >= starts[index]!; t--) {
          later = gaps[t]! + gamma * later;
          advantages[t] = (compared ? outcome * compared[index]! : 0) - coefficient * later;
        }
      }
      return { credits: creditTokens(trajectories, advantages), state };
    },
);

function gapsOf(trajectory: CreditTrajectory, k: number): readonly number[] {
  const { teacherGaps = [], tokens } = trajectory.turns[k]!;
  if (teacherGaps.length === tokens) return teacherGaps;
  throw missingField(
    'teacher-kl',
    trajectory,
    'turns[].teacherGaps',
    k,
    `Give one for each of its ${tokens} sampled tokens; a run has them with --recipe on-policy-distillation`,
  );
}
