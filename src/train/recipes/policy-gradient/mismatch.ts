/** Corrections for a sampler that differs from the trainer: truncated weights, IcePop and masks of whole sequences. */

import { creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe, type Idle } from '../recipe.ts';

/** The embedded engine trains what it samples, up to rounding. */
const idle: Idle = {
  metric: 'policy/kl_sample_train',
  atMost: 1e-7,
  means: 'sampler and trainer agree, nothing is corrected, and grpo learns the same',
};

export const tis = defineRecipe({
  name: 'tis',
  summary: 'grpo with each token weighted by its capped ratio of trainer to sampler probability',
  formula: [...creditFormula('grpo'), lossFormula('truncated-importance-sampling')],
  use: 'sampler and trainer compute different numbers: another engine, other kernels, another precision',
  source: 'truncated importance sampling, verl',
  authors: 'cap 2',
  settings: { credit: { method: 'grpo' }, objective: { name: 'truncated-importance-sampling' } },
  idle,
});

export const icePop = defineRecipe({
  name: 'icepop',
  summary: 'grpo without the tokens on which sampler and trainer disagree strongly',
  formula: [...creditFormula('grpo'), lossFormula('icepop')],
  use: 'tis fits, but a few tokens differ wildly',
  source: 'IcePop; OpenRLHF',
  authors: 'between 0.5 and 5',
  settings: { credit: { method: 'grpo' }, objective: { name: 'icepop' } },
  idle,
});

export const sequenceMaskRecipe = defineRecipe({
  name: 'sequence-mask',
  summary:
    'grpo with sequences weighed by how much likelier the trainer finds them, without those above a cap',
  formula: [...creditFormula('grpo'), lossFormula('sequence-mask')],
  use: 'tis fits, but whole sequences drift apart',
  source: 'TRL',
  authors: 'cap 3',
  settings: { credit: { method: 'grpo' }, objective: { name: 'sequence-mask' } },
  idle,
});
