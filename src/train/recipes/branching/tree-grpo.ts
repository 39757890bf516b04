/** Tree-GRPO: branches at random places, compared inside their tree and across the trees of the task. */

import { arpoExplorer } from '../../../rollout/explore/arpo.ts';
import { branches } from '../../config/blocks.ts';
import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const treeGrpo = defineRecipe({
  name: 'tree-grpo',
  summary: 'branches at random places, compared inside their tree and across the trees of the task',
  formula: [...creditFormula('tree-grpo'), clippedLoss],
  use: 'you have outcomes alone, and branches of an episode can show which turn mattered',
  source: 'arXiv 2509.21240',
  authors: 'trees of several expansions each; budgets counted in tool calls and tokens',
  needs: { oneRole: true },
  act: ({ branching }) => arpoExplorer(branching),
  playReads: branches,
  settings: {
    credit: { method: 'tree-grpo' },
    branching: { initial: 0.5, alpha: 1, beta: 0, threshold: 0.5, width: 2 },
  },
});
