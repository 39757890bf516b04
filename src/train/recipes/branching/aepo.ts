/** AEPO: as ARPO, with the budget and the branches balanced by entropy, and a clip that keeps its gradient. */

import { aepoExplorer } from '../../../rollout/explore/aepo.ts';
import { balancedBranches } from '../../config/blocks.ts';
import { creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const aepo = defineRecipe({
  name: 'aepo',
  summary:
    'branches balanced by entropy, advantages that grow with entropy, and a clip that keeps its gradient',
  formula: [
    'episodes from the start = ⌊N·σ(balance·(H_1 − mean of later H))⌋ + 1 of the N of the group',
    ...creditFormula('aepo'),
    lossFormula('aepo-clip'),
  ],
  use: 'branches of arpo crowd on few episodes, or unsure tokens should learn more',
  source: 'arXiv 2510.14545',
  authors:
    'groups of 16, beam 2, branch probability 0.5, both entropy weights 0.2, balance 0.5, penalty 0.05',
  needs: { oneRole: true },
  act: ({ branching }) => aepoExplorer(branching),
  playReads: balancedBranches,
  settings: {
    credit: { method: 'aepo' },
    objective: { name: 'aepo-clip' },
    branching: { alpha: 0.5, beta: 0.2, threshold: 0.3, width: 2, balance: 0.5, penalty: 0.05 },
  },
});
