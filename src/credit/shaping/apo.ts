/** A²FM's adaptive policy optimisation: on questions that are easy for the cheap mode, other modes earn less. */

import { z } from 'zod';
import { missingField } from '../contract/needs.ts';
import { groupKey } from '../kit/groups.ts';
import { isSuccess, withFactor } from './rewards.ts';
import { defineShaping, type RewardShaping } from './shaping.ts';

export const apo: RewardShaping = defineShaping(
  {
    name: 'apo',
    aliases: ['a2fm'],
    title: 'APO (A²FM, cost-regularised reward)',
    summary: 'other modes earn less on questions that the cheap mode mostly solves',
    formula: `p = share of successes among the group's rollouts in the cheap mode
R ← R · (1 - p^α) for other modes where p ≥ τ,   R otherwise`,
    source: '"A²FM: An Adaptive Agent Foundation Model for Tool-Aware Hybrid Reasoning", arXiv 2510.12838',
    deviations: [
      'The form and its constants come from memory, not from the paper; they are options.',
      'Only rewards above 0 shrink, so a costly failure does not improve.',
      'A group without a rollout in the cheap mode does not change. Forcing modes belongs to the rollout.',
    ],
    needs: ['mode'],
    uses: ['success'],
    example: '--method grpo --shape apo',
  },
  z.strictObject({
    cheapMode: z.string().default('instant').describe('The cheapest mode.'),
    tau: z
      .number()
      .min(0)
      .max(1)
      .default(0.75)
      .describe('Success of the cheap mode at which a question is easy.'),
    alpha: z
      .number()
      .positive()
      .default(2)
      .describe('How fast the rewards of other modes fall with the cheap one’s success.'),
  }),
  ({ cheapMode, tau, alpha }) =>
    (trajectories, state) => {
      const groups = new Map<string, { tries: number; successes: number }>();
      for (const trajectory of trajectories) {
        if (trajectory.mode === undefined) throw missingField('apo', trajectory, 'mode');
        if (trajectory.mode !== cheapMode) continue;
        const key = groupKey(trajectory);
        const group = groups.get(key) ?? { tries: 0, successes: 0 };
        groups.set(key, {
          tries: group.tries + 1,
          successes: group.successes + (isSuccess(trajectory) ? 1 : 0),
        });
      }
      const shaped = trajectories.map((trajectory) => {
        const group = groups.get(groupKey(trajectory));
        if (group === undefined || trajectory.mode === cheapMode || trajectory.outcome <= 0)
          return trajectory;
        const share = group.successes / group.tries;
        return share >= tau ? withFactor(trajectory, 1 - share ** alpha) : trajectory;
      });
      return { trajectories: shaped, state };
    },
);
