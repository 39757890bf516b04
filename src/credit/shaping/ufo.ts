/** UFO: a right answer is worth less the later it comes, and saying the same wrong answer again costs. */

import { z } from 'zod';
import { missingField } from '../contract/needs.ts';
import { attemptsIn, withOnlyRewards } from './rewards.ts';
import { defineShaping, type RewardShaping } from './shaping.ts';

export const ufo: RewardShaping = defineShaping(
  {
    name: 'ufo',
    title: 'UFO (unary feedback)',
    summary: 'earlier right answers earn more, repeated answers cost',
    formula: `r_t = γ^a where answer t is right, else 0,   a = attempt of turn t, from 0
r_last ← r_last - λ·(1 - E/T),   T = answers that are not empty, E = different ones among them (case and spaces apart)`,
    source: '"A Simple \'Try Again\' Can Elicit Multi-Turn LLM Reasoning", arXiv 2507.14295',
    deviations: [
      'It replaces all rewards. Without any answer they are 0. The total may be negative.',
      'Where turns say to which attempt they belong, as in runs with `turns=retry`, γ counts attempts. Otherwise every turn is an attempt.',
    ],
    needs: ['turns[].answer'],
    uses: ['turns[].correct', 'turns[].attempt'],
    ownRewards: true,
    example: '--method rloo --shape ufo --set ufo.lambda=0.25',
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(0.5).describe('Factor for each attempt before the right one.'),
    lambda: z.number().min(0).default(0.5).describe('Cost of repeating a single answer.'),
  }),
  ({ gamma, lambda }) =>
    (trajectories, state) => {
      const attemptsOf = attemptsIn(trajectories);
      const shaped = trajectories.map((trajectory) => {
        const attempts_K = attemptsOf(trajectory);
        const answers = trajectory.turns.map(({ answer }, k) => {
          if (answer === undefined) throw missingField('ufo', trajectory, 'turns[].answer', k);
          return answer.toLowerCase().replaceAll(/\s/g, '');
        });
        const given = answers.filter((answer) => answer !== '');
        const repeated = given.length === 0 ? 0 : 1 - new Set(given).size / given.length;
        const rewards_K = trajectory.turns.map(({ correct, reward }, k) =>
          answers[k] !== '' && (correct ?? reward > 0) ? gamma ** attempts_K[k]! : 0,
        );
        if (rewards_K.length > 0) rewards_K[rewards_K.length - 1]! -= lambda * repeated;
        return withOnlyRewards(trajectory, rewards_K);
      });
      return { trajectories: shaped, state };
    },
);
