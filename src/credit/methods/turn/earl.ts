/** EARL: a turn is worth the outcome minus what would have come without it. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { groupKey } from '../../kit/groups.ts';
import { compareWithin, partition } from '../../kit/within.ts';

export const earl: CreditMethod = defineCreditMethod(
  {
    name: 'earl',
    title: 'EARL (counterfactual credit)',
    summary: 'outcome minus the outcome of a continuation without the turn, if one was played',
    formula: `A_k = R - R^cf_k   where turn k was replaced by another and the episode played on from there
A_k = R - mean R of the group   elsewhere ("group"), or 0 ("none")`,
    source: '"Expanding the Action Space of LLMs to Reason Beyond Language", arXiv 2510.07581',
    deviations: [
      'The details of the estimator were not available. This is the difference that its name suggests, with the outcome of the replaced turn’s continuation as the baseline.',
      'The rollout chooses the replacement (another routing action, in the paper). Several continuations count as their mean.',
      'The part of the method that changes the objective is missing.',
    ],
    level: 'turn',
    needs: ['turns[].counterfactual'],
    example: '--method earl --set elsewhere=none',
  },
  z.strictObject({
    elsewhere: z
      .enum(['group', 'none'])
      .default('group')
      .describe('Advantage of turns without a counterfactual: against the group, or 0.'),
  }),
  ({ elsewhere }) =>
    (trajectories, state) => {
      const groups = partition(trajectories, groupKey);
      const outcomes = trajectories.map(({ outcome }) => outcome);
      const relative = compareWithin(outcomes, groups, { spread: 'none', epsilon: 0 });
      const credits = trajectories.map(({ id, outcome, turns }, index) => ({
        id,
        turnAdvantages_K: turns.map(({ counterfactual }) => {
          if (counterfactual !== undefined) return outcome - counterfactual;
          return elsewhere === 'group' ? relative[index]! : 0;
        }),
      }));
      return { credits, state };
    },
);
