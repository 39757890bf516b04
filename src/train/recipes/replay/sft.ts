/** Supervised fine-tuning: recorded episodes are imitated, answer by answer. */

import { crossEntropy } from '../../../objective/imitation/cross-entropy.ts';
import { imitatesAlone } from '../../config/blocks.ts';
import { learnFromReplay } from '../../off-policy/imitation.ts';
import { remembers } from '../../off-policy/replay.ts';
import { averagedRows, recordedOf } from '../../off-policy/rows.ts';
import { defineRecipe } from '../recipe.ts';

export const sft = defineRecipe({
  name: 'sft',
  summary: 'recorded episodes are imitated, answer by answer',
  formula: [
    'loss = −Σ weight · log π(token) over the answers of recorded episodes, prompts and shown answers at weight 0',
  ],
  use: 'there are recordings of somebody who can do the task: a rented model, a person, a script',
  source: 'InstructGPT, arXiv 2203.02155, section 3.5',
  authors: '16 epochs, cosine decay',
  learnsFrom: 'recorded',
  start: remembers,
  learn: learnFromReplay({
    rows: (episodes) => averagedRows(recordedOf(episodes)),
    objective: () => crossEntropy(),
  }),
  reads: imitatesAlone,
  // The steps are the imitation, so that they have evaluations and checkpoints.
  settings: {
    data: 'demonstrations',
    steps: 40,
    clone: { steps: 0 },
    replay: { updates: 4, batch: 32 },
    optimizer: { learningRate: 2e-3, schedule: 'cosine' },
  },
});
