/** WaltzRL: a feedback agent is paid for how much the conversation agent's next response improves. */

import { z } from 'zod';
import { TurnwiseError } from '../../../core/errors.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { missingField } from '../../contract/needs.ts';
import { turnRewards } from '../../kit/columns.ts';
import { creditTurns, flatTurns, partitionTurns, whitenTurns, withShaped } from '../../kit/turns.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { episodeKey } from './cory.ts';

export const waltzRl: CreditMethod = defineCreditMethod(
  {
    name: 'waltzrl',
    aliases: ['waltz'],
    title: 'WaltzRL (dynamic improvement reward)',
    summary: 'feedback earns the improvement of the next response; whitened per role',
    formula: `conversation: r_t = R_c(c_t)
feedback:     r_t = α·DIR_t + λ·1(label correct) + γ·1(well formed),   DIR_t = R_c(c_{t+1}) - R_c(c_t)
conditioned:  DIR counts only where the label is correct
A = r, whitened over the tokens of the role (REINFORCE++)`,
    source: '"The Alignment Waltz: Jointly Training Agents to Collaborate for Safety", arXiv 2510.08240',
    deviations: [
      'Every round of an episode counts; the paper draws one for each agent. With a single round of feedback the two differ in the conversation agent’s two responses.',
      'The label reward λ is 0 by default, as in the joint stage; the first stage needs a positive λ, whose value is not published.',
      'A feedback turn without a following response has no improvement: DIR = 0.',
      'A response may be several turns of one task, told by `response`: then R_c is the sum of their rewards.',
    ],
    level: 'turn',
    wholeSteps: true,
    needs: ['turns[].labelCorrect'],
    uses: ['role', 'episode', 'turns[].wellFormed', 'turns[].response'],
    example: '--method waltzrl --set lambda=0.25 --set whiten=false',
  },
  z.strictObject({
    alpha: z.number().default(0.65).describe('Weight of the improvement.'),
    lambda: z.number().default(0).describe('Reward of a correct label.'),
    gamma: z.number().default(0.1).describe('Reward of a well-formed feedback.'),
    conditioned: z.boolean().default(true).describe('Whether improvement counts only with a correct label.'),
    feedbackRole: z.string().default('feedback').describe('Role of the feedback agent.'),
    conversationRole: z.string().default('conversation').describe('Role of the conversation agent.'),
    whiten: z
      .boolean()
      .default(true)
      .describe('Whether to bring the advantages of each role to mean 0 and variance 1, over tokens.'),
  }),
  ({ alpha, lambda, gamma, conditioned, feedbackRole, conversationRole, whiten }) =>
    (trajectories, state) => {
      const responses = new Map<string, readonly number[]>();
      for (const trajectory of trajectories) {
        if (trajectory.role === conversationRole)
          responses.set(episodeKey(trajectory), responseScores(trajectory));
      }
      const rewards = flatTurns(trajectories, (trajectory) => {
        if (trajectory.role !== feedbackRole) return turnRewards(trajectory);
        const scores = responses.get(episodeKey(trajectory));
        if (scores === undefined) throw alone(trajectory, conversationRole);
        return trajectory.turns.map(({ labelCorrect, wellFormed = true }, t) => {
          if (labelCorrect === undefined)
            throw missingField('waltzrl', trajectory, 'turns[].labelCorrect', t);
          const improvement = (scores[t + 1] ?? scores[t] ?? 0) - (scores[t] ?? 0);
          const counted = conditioned && !labelCorrect ? 0 : improvement;
          return alpha * counted + (labelCorrect ? lambda : 0) + (wellFormed ? gamma : 0);
        });
      });
      const advantages = rewards.slice();
      // The two agents have weights of their own, so each role is whitened by itself.
      if (whiten)
        whitenTurns(
          trajectories,
          advantages,
          partitionTurns(trajectories, ({ role }) => role),
        );
      return { credits: withShaped(creditTurns(trajectories, advantages), trajectories, rewards), state };
    },
);

/** R_c of each response: the sum of its turns' rewards. */
function responseScores(trajectory: CreditTrajectory): readonly number[] {
  const scores: number[] = [];
  for (const [t, reward] of turnRewards(trajectory).entries()) {
    const at = trajectory.turns[t]!.response ?? t;
    scores[at] = (scores[at] ?? 0) + reward;
  }
  // A response whose turns are not here scored nothing.
  return Array.from(scores, (score) => score ?? 0);
}

function alone({ id, role }: CreditTrajectory, wanted: string): TurnwiseError {
  return new TurnwiseError('credit-needs-partner', {
    what: `waltzrl pays trajectory "${id}" of role "${role}" for what its partner did, and there is none of role "${wanted}" in its episode`,
    allowed: 'a trajectory of each role with the same episode, or the same groupId and id',
    next: 'Name the roles with feedbackRole and conversationRole if they are called otherwise',
    fields: { trajectory: id, role },
  });
}
