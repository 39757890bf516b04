/** EARL: each turn against what would have happened without it. */

import { arpoExplorer } from '../../../rollout/explore/arpo.ts';
import { branches } from '../../config/blocks.ts';
import { counterfactuals } from '../../kit/counterfactuals.ts';
import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const earl = defineRecipe({
  name: 'earl',
  summary: 'outcome minus the outcome of a continuation without the turn, if one was played',
  formula: [...creditFormula('earl'), clippedLoss],
  use: 'the environment can continue from a state with another action',
  source: 'EARL, arXiv 2510.07581',
  authors: 'counterfactual continuations of a share of the turns; further settings were not found',
  needs: { oneRole: true },
  act: ({ branching }) => arpoExplorer(branching),
  playReads: branches,
  turnFacts: counterfactuals,
  settings: {
    credit: { method: 'earl' },
    // Places at random: how unsure the policy was is not asked.
    branching: { initial: 0.5, alpha: 1, beta: 0, threshold: 0.5, width: 2 },
  },
});
