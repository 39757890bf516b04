/** AEPO: tokens that the policy was unsure of weigh more. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { missingField } from '../../contract/needs.ts';
import { groupKey } from '../../kit/groups.ts';
import { creditTokens, flatTokens, tokenStarts } from '../../kit/tokens.ts';
import { partition, statisticsWithin } from '../../kit/within.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { grpoAdvantages, grpoFields } from '../group/grpo.ts';

export const aepo: CreditMethod = defineCreditMethod(
  {
    name: 'aepo',
    title: 'AEPO (entropy-aware advantage)',
    summary: 'grpo, with more weight on tokens of high entropy',
    formula: `A_t = A_i · (1 + a·z_t),   A_i = (R_i - mean R) / (std R + ε)
z_t = (H_t - mean H) / std H over the sampled tokens of the batch`,
    source: '"Agentic Entropy-Balanced Policy Optimization", arXiv 2510.14545',
    deviations: [
      'Entropies are constants: no gradient goes through them. A standard deviation of 0 gives z = 0.',
      'The paper leaves open whether entropies are compared over the batch or the group: `over`.',
      'The clip that keeps its gradient belongs to the objective.',
    ],
    level: 'token',
    wholeSteps: true,
    needs: ['turns[].entropies'],
    example: '--method aepo --set a=0.3',
  },
  z.strictObject({
    a: z.number().min(0).default(0.2).describe('The influence of entropy on the advantage.'),
    over: z
      .enum(['batch', 'group'])
      .default('batch')
      .describe('The tokens with which entropies are compared.'),
    ...grpoFields,
  }),
  ({ a, over, std, epsilon }) =>
    (trajectories, state) => {
      const own = grpoAdvantages(trajectories, { std, epsilon });
      const starts = tokenStarts(trajectories);
      const entropies = flatTokens(trajectories, tokenEntropies, starts);
      const { keys, count } = partition(trajectories, over === 'batch' ? () => '' : groupKey);
      const parts = new Int32Array(entropies.length);
      for (const [index, key] of keys.entries()) parts.fill(key, starts[index]!, starts[index + 1]!);
      const { counts, means, squares } = statisticsWithin(entropies, { keys: parts, count });
      const advantages = new Float64Array(entropies.length);
      for (const [index, key] of keys.entries()) {
        const deviation = Math.sqrt(squares[key]! / Math.max(1, counts[key]! - 1));
        const scale = deviation === 0 ? 0 : a / deviation;
        for (let t = starts[index]!; t < starts[index + 1]!; t++) {
          advantages[t] = own[index]! * (1 + scale * (entropies[t]! - means[key]!));
        }
      }
      return { credits: creditTokens(trajectories, advantages), state };
    },
);

function tokenEntropies(trajectory: CreditTrajectory, k: number): readonly number[] {
  const { entropies = [], tokens } = trajectory.turns[k]!;
  if (entropies.length === tokens) return entropies;
  throw missingField(
    'aepo',
    trajectory,
    'turns[].entropies',
    k,
    `Give one for each of its ${tokens} sampled tokens, or turns[].entropy for all of them`,
  );
}
