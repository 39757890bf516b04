/** Tree-GRPO: leaves of one search tree against each other, and all leaves of the prompt against each other. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { broadcastToTurns, groupKey } from '../../kit/groups.ts';
import { compareWithin, partition } from '../../kit/within.ts';
import { rootsOf } from './branches.ts';

export const treeGrpo: CreditMethod = defineCreditMethod(
  {
    name: 'tree-grpo',
    title: 'Tree-GRPO',
    summary: 'rollouts compared inside their search tree and across the trees of the prompt',
    formula: `paper: A_i = (R_i - mean of its tree) / (std + ε) + (R_i - mean of the prompt) / (std + ε)
code:  the second term, compared once more inside the tree`,
    source: '"Tree Search for LLM Agent Reinforcement Learning", arXiv 2509.21240',
    deviations: [
      'The paper adds the two comparisons, the released code nests them: `form`.',
      'A tree is a trajectory without a parent, with all its branches. A tree of one leaf gives 0 inside the tree.',
    ],
    level: 'turn',
    needs: [],
    uses: ['parent'],
    example: '--method tree-grpo --set form=code',
  },
  z.strictObject({
    form: z.enum(['paper', 'code']).default('paper').describe('Whether the comparisons are added or nested.'),
    epsilon: z.number().positive().default(1e-6).describe('Added to the standard deviation.'),
  }),
  ({ form, epsilon }) =>
    (trajectories, state) => {
      const comparison = { spread: 'sample', epsilon } as const;
      const outcomes = trajectories.map(({ outcome }) => outcome);
      const roots = rootsOf(trajectories);
      const trees = partition(trajectories, (_, index) => roots[index]!);
      const acrossTrees = compareWithin(outcomes, partition(trajectories, groupKey), comparison);
      const advantages =
        form === 'code'
          ? compareWithin(acrossTrees, trees, comparison)
          : compareWithin(outcomes, trees, comparison).map((inside, index) => inside + acrossTrees[index]!);
      return { credits: broadcastToTurns(trajectories, Array.from(advantages)), state };
    },
);
