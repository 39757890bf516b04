/** Corrections for a sampler that differs from the trainer: truncated weights, IcePop and masks of whole sequences. */

import { creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const tis = defineRecipe({
  name: 'tis',
  summary: 'grpo with weights for how much likelier the trainer finds a token than the sampler did, capped',
  formula: [...creditFormula('grpo'), lossFormula('truncated-importance-sampling')],
  use: 'the sampler has other numbers than the trainer: another engine, other kernels, other precision',
  source: 'truncated importance sampling, verl',
  authors: 'cap 2',
  settings: { credit: { method: 'grpo' }, objective: { name: 'truncated-importance-sampling' } },
});

export const icePop = defineRecipe({
  name: 'icepop',
  summary: 'grpo without the tokens that sampler and trainer see very differently',
  formula: [...creditFormula('grpo'), lossFormula('icepop')],
  use: 'as tis, where a few tokens differ wildly',
  source: 'IcePop; OpenRLHF',
  authors: 'between 0.5 and 5',
  settings: { credit: { method: 'grpo' }, objective: { name: 'icepop' } },
});

export const sequenceMaskRecipe = defineRecipe({
  name: 'sequence-mask',
  summary:
    'grpo with sequences weighed by how much likelier the trainer finds them, without those above a cap',
  formula: [...creditFormula('grpo'), lossFormula('sequence-mask')],
  use: 'as tis, where whole sequences drift apart',
  source: 'TRL',
  authors: 'cap 3',
  settings: { credit: { method: 'grpo' }, objective: { name: 'sequence-mask' } },
});
