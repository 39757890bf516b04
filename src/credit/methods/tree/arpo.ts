/** ARPO: credit for rollouts that branched where the policy was unsure. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { creditTurns, spreadOverTurns } from '../../kit/turns.ts';
import { statisticsWithin } from '../../kit/within.ts';
import { grpoAdvantages, grpoFields } from '../group/grpo.ts';
import { sharedTurns } from './branches.ts';

export const arpo: CreditMethod = defineCreditMethod(
  {
    name: 'arpo',
    title: 'ARPO attribution',
    summary: 'grpo over all branches; turns that branches share may get the mean of their advantages',
    formula: `soft: A_{i,k} = A_i = (R_i - mean R) / (std R + ε) over all rollouts of the prompt
hard: A_{i,k} = mean of A over the rollouts that share turn k,   A_i on the turns after the last branch`,
    source: '"Agentic Reinforced Policy Optimization", arXiv 2507.19849',
    deviations: [
      'Both forms weigh a shared turn alike in the summed gradient, as it appears in the row of every branch.',
      'Branches share whole turns.',
      'A parent that is not in the batch still joins the branches that name it.',
    ],
    level: 'turn',
    needs: [],
    uses: ['parent', 'sharedTurns'],
    example: '--method arpo --set attribution=hard',
  },
  z.strictObject({
    attribution: z
      .enum(['soft', 'hard'])
      .default('soft')
      .describe('Whether a shared turn gets each branch’s advantage, or their mean.'),
    ...grpoFields,
  }),
  ({ attribution, std, epsilon }) =>
    (trajectories, state) => {
      const own = grpoAdvantages(trajectories, { std, epsilon });
      const flat = spreadOverTurns(trajectories, own);
      if (attribution === 'soft') return { credits: creditTurns(trajectories, flat), state };
      const shared = sharedTurns(trajectories);
      const { means } = statisticsWithin(flat, shared);
      return {
        credits: creditTurns(
          trajectories,
          flat.map((_, turn) => means[shared.keys[turn]!]!),
        ),
        state,
      };
    },
);
