/** REINFORCE++ with a group baseline: one spread for the batch, where that of a small group is noise. */

import { lessons } from '../environments/lessons.ts';
import { noisy } from '../environments/noisy.ts';
import { defineExperiment } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

export const smallGroups = defineExperiment({
  name: 'small-groups',
  methods: ['reinforce++-baseline'],
  claim:
    'With groups of two and rewards that carry a little noise, reinforce++-baseline learns in fewer steps than grpo, whose division by the spread of each group makes as much of a difference that is noise as of one that is success.',
  source: 'arXiv 2501.03262',
  setup:
    'Six pages of which the second and the fifth must be answered with one word of four; the end pays 1, and every turn adds a normal number of deviation 0.02. A table of logits; 100 steps of 16 groups × 2 episodes.',
  arms: ['grpo', 'reinforce++-baseline'],
  seeds: 20,
  comparisons: [{ figure: 'area', arm: 'reinforce++-baseline', against: 'grpo', expect: 'higher' }],
  run: async (arm, seed) =>
    tabularRun({
      environment: noisy(lessons({ turns: 6, matter: [1, 4], words: 4 }), 0.02),
      credit: { method: arm },
      seed,
      steps: 100,
      groups: 16,
      members: 2,
    }),
});
