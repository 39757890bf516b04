/** ARPO: half of a group branches off the other half where the policy was surprised. */

import { arpoExplorer } from '../../../rollout/explore/arpo.ts';
import { branches } from '../../config/blocks.ts';
import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const arpo = defineRecipe({
  name: 'arpo',
  summary: 'half of each group branches off the other at unsure places; grpo over all branches',
  formula: [
    'score of a place = α + β·(entropy of its turn − entropy of the first turn)',
    ...creditFormula('arpo').slice(0, 1),
    clippedLoss,
  ],
  use: 'tool calls are expensive, the decisions that matter follow their results, and sessions can be copied',
  source: 'arXiv 2507.19849',
  authors: 'groups of 16 of which 8 start afresh, beam 2, branch probability 0.5, entropy weight 0.2, no KL',
  needs: { oneRole: true },
  act: ({ branching }) => arpoExplorer(branching),
  playReads: branches,
  settings: {
    credit: { method: 'arpo' },
    branching: { initial: 0.5, alpha: 0.5, beta: 0.2, threshold: 0.5, width: 2 },
  },
});
