/** SCoRe: a second attempt is paid for being better than the first. */

import { z } from 'zod';
import { turnRewards } from '../kit/columns.ts';
import { attemptsIn, withTurnRewards } from './rewards.ts';
import { defineShaping, type RewardShaping } from './shaping.ts';

export const score: RewardShaping = defineShaping(
  {
    name: 'score',
    title: 'SCoRe (self-correction)',
    summary: 'an attempt earns a bonus for improving on the one before it',
    formula: `stage 2: r_1 stays,   r_k ← r_k + α·(r_k - r_{k-1}) for later attempts
stage 1: r_1 ← 0,     later attempts stay`,
    source: '"Training Language Models to Self-Correct via Reinforcement Learning", arXiv 2409.12917',
    deviations: [
      'The paper has two attempts; here every later one is compared with the one before it.',
      'Where turns say to which attempt they belong, as in runs with `turns=two-attempts`, the reward of an attempt is the sum over its turns, and the last of them has the bonus. Otherwise every turn is an attempt.',
      'The bonus belongs to the later attempt alone only where returns end with their attempt: with `within: "attempt"` of `reinforce`, or a γ of 0 if an attempt is one turn.',
      'The KL that holds the first attempt in stage 1 is a term of the objective, which holds later attempts, too.',
      'α = 10 comes from memory, not from the paper.',
    ],
    needs: [],
    uses: ['turns[].reward', 'turns[].attempt'],
    ownRewards: true,
    example: '--method reinforce --shape score --set gamma=0',
  },
  z.strictObject({
    alpha: z.number().min(0).default(10).describe('Weight of the improvement.'),
    stage: z
      .union([z.literal(1), z.literal(2)])
      .default(2)
      .describe('1 rewards later attempts only, 2 all attempts and their improvement.'),
  }),
  ({ alpha, stage }) =>
    (trajectories, state) => {
      const attemptsOf = attemptsIn(trajectories);
      const shaped = trajectories.map((trajectory) => {
        const before = turnRewards(trajectory);
        const attempts_K = attemptsOf(trajectory);
        const of = (wanted: number): number =>
          before.reduce((sum, reward, k) => sum + (attempts_K[k] === wanted ? reward : 0), 0);
        const rewards_K = before.map((reward, k) => {
          const attempt = attempts_K[k]!;
          if (stage === 1) return attempt === 0 ? 0 : reward;
          const isLast = attempts_K[k + 1] !== attempt;
          return attempt > 0 && isLast ? reward + alpha * (of(attempt) - of(attempt - 1)) : reward;
        });
        return withTurnRewards(trajectory, rewards_K);
      });
      return { trajectories: shaped, state };
    },
);
