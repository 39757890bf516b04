/** MatchTIR: tool calls matched with those of an expert. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const matchTir = defineRecipe({
  name: 'matchtir',
  summary: 'tool calls matched with an expert’s; whole episodes and single turns compared, half each',
  formula: [...creditFormula('matchtir'), clippedLoss],
  use: 'you know an expert’s calls for each task',
  source: 'arXiv 2601.10712',
  authors: 'groups of 16, lambda 0.9, KL 0.001 (k3), entropy bonus 0.001',
  needs: { facts: ['turns[].calls', 'goldenCalls'] },
  settings: { credit: { method: 'matchtir' } },
});
