/** IGPO: a turn's reward is how much likelier it made the right answer for the policy itself. */

import { truthProbabilities } from '../../kit/truth-probabilities.ts';
import { clippedLoss, creditFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const igpo = defineRecipe({
  name: 'igpo',
  summary: 'information gain of each turn and the outcome, compared within the group',
  formula: [
    'p_k = exp(mean log-probability of the tokens of truth(task) after the prompt of turn k)',
    ...creditFormula('igpo'),
    clippedLoss,
  ],
  use: 'turns gather information, and the environment knows the answer (`truth`)',
  source: 'arXiv 2510.14967',
  authors: 'groups of 16, ten turns, gamma 1, KL 0.001 (k3)',
  needs: { truth: true },
  turnFacts: truthProbabilities,
  settings: { credit: { method: 'igpo' } },
});
