/** MALT: full trees of answers, critiques and refinements; imitation of the nodes that led to success. */

import { fullTreeExplorer } from '../../../rollout/explore/full-tree.ts';
import { trees } from '../../config/blocks.ts';
import { creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const malt = defineRecipe({
  name: 'malt',
  summary: 'full trees of turns; imitates turns whose continuations mostly succeed',
  formula: [...creditFormula('malt'), lossFormula('policy-gradient')],
  use: 'an answer passes through a fixed number of turns, such as answer, critique and refinement',
  source: 'arXiv 2412.01928',
  authors:
    'three children a node, so 27 leaves for three turns; imitation, then preferences for critic and refiner',
  needs: { oneRole: true },
  act: ({ branching }) => fullTreeExplorer(branching),
  playReads: trees,
  settings: {
    credit: { method: 'malt' },
    objective: { name: 'policy-gradient' },
    rollout: { tasks: 16, group: 27 },
    branching: { width: 3 },
    optimizer: { minibatches: 1 },
  },
});
