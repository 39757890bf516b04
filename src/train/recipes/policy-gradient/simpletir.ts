/** SimpleTIR: episodes end at a void turn, set baselines, and are not learned from. */

import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const simpleTir = defineRecipe({
  name: 'simpletir',
  summary: 'grpo without episodes that contain a turn without a usable action; it ends them there',
  formula: [...creditFormula('grpo'), clippedLoss, 'episodes end at a void turn, and have weight 0'],
  use: 'a policy without training in tools writes turns without an action, and gradients spike',
  source: 'arXiv 2509.02479',
  authors: 'groups of 16, clip 0.2 and 0.28, dual clip 3, no KL, groups with a spread below 1e-3 dropped',
  settings: { credit: { method: 'grpo' }, turns: { name: 'until-void' }, curation: { 'void-turns': {} } },
});
