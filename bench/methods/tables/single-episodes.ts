/** REINFORCE++: normalising over the batch, where there are no groups to compare in. */

import { quiz } from '../environments/quiz.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

// The arms without a signal stay at chance, which is 0.25. Whitening also makes the steps of reinforce++ larger than
// those of reinforce, so that the difference between these two is no comparison of their directions.
export const singleEpisodes = defineTable({
  name: 'single-episodes',
  methods: ['reinforce++'],
  claim:
    'Where each task is played once, reinforce++ learns; grpo and rloo, which compare the episodes of a task, have no signal at all.',
  source: 'arXiv 2501.03262',
  setup:
    'Eight questions of four words, one right, any answer paid 1 and the right one 2. A table of logits; 60 steps of 32 groups of one episode. reinforce: without a baseline.',
  arms: ['grpo', 'rloo', 'reinforce', 'reinforce++'],
  comparisons: [
    { figure: 'area', arm: 'reinforce++', against: 'grpo', expect: 'higher' },
    { figure: 'area', arm: 'reinforce++', against: 'rloo', expect: 'higher' },
  ],
  run: async (arm, seed) =>
    tabularRun({
      environment: quiz({ base: 1 }),
      credit: { method: arm },
      seed,
      steps: 60,
      groups: 32,
      members: 1,
    }),
});
