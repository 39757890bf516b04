/** Step-GRPO: every step has a score of its own, and is compared with all steps of its group. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { turnRewards } from '../../kit/columns.ts';
import { broadcastToTurns } from '../../kit/groups.ts';
import { creditTurns, flatRewards, partitionTurns, sumToGo, turnStarts } from '../../kit/turns.ts';
import { compareWithin } from '../../kit/within.ts';
import { grpoAdvantages, grpoFields } from '../group/grpo.ts';

export const stepGrpo: CreditMethod = defineCreditMethod(
  {
    name: 'step-grpo',
    title: 'Step-GRPO (WebGen-Agent)',
    summary: 'the score of each step against all steps of the group',
    formula: `A_{i,j} = (r_{i,j} - mean) / (std + ε) over all steps of all trajectories of the group
cumulative: Σ_{j' ≥ j} A_{i,j'}
max:        (max_j r_{i,j} - mean) / (std + ε) over trajectories, the same for every step`,
    source: '"WebGen-Agent", arXiv 2509.22644',
    deviations: ['A group of a single step gives 0; the released code gives its raw score.'],
    level: 'turn',
    needs: [],
    uses: ['turns[].reward'],
    example: '--method step-grpo --set form=cumulative',
  },
  z.strictObject({
    form: z
      .enum(['step', 'cumulative', 'max'])
      .default('step')
      .describe('Each step’s own comparison, its sum from the step on, or the best step of each trajectory.'),
    ...grpoFields,
  }),
  ({ form, std, epsilon }) =>
    (trajectories, state) => {
      if (form === 'max') {
        const best = trajectories.map((trajectory) => {
          const { turns, outcome } = trajectory;
          return {
            ...trajectory,
            outcome: turns.length === 0 ? outcome : Math.max(...turnRewards(trajectory)),
          };
        });
        return { credits: broadcastToTurns(trajectories, grpoAdvantages(best, { std, epsilon })), state };
      }
      const comparison = { spread: std, epsilon } as const;
      const steps = compareWithin(flatRewards(trajectories), partitionTurns(trajectories), comparison);
      if (form === 'cumulative') sumToGo(steps, turnStarts(trajectories), 1);
      return { credits: creditTurns(trajectories, steps), state };
    },
);
