/** REINFORCE++ with a group baseline: one spread for the batch, where that of a small group is noise. */

import { lessons } from '../environments/lessons.ts';
import { noisy } from '../environments/noisy.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

// The lead is there, but not for the reason that the claim gives: without noise it is the same. Where success is
// rare few groups differ, one in eight at first, and over a batch that is mostly zero these differences are about
// three deviations, where within their group they are never more than 0.7. The noise that grpo makes large has no
// direction, and averages out.
export const smallGroups = defineTable({
  name: 'small-groups',
  methods: ['reinforce++-baseline'],
  claim:
    'With groups of two and rewards that carry a little noise, reinforce++-baseline learns in fewer steps than grpo, whose division by the spread of each group makes as much of a difference that is noise as of one that is success.',
  source: 'arXiv 2501.03262',
  setup:
    'Six pages of which the second and the fifth must be answered with one word of four; the end pays 1, and every turn adds a normal number of deviation 0.02. A table of logits; 100 steps of 16 groups × 2 episodes. No claim is made of the arms without noise.',
  arms: ['grpo', 'reinforce++-baseline', 'grpo, no noise', 'reinforce++-baseline, no noise'],
  comparisons: [{ figure: 'area', arm: 'reinforce++-baseline', against: 'grpo', expect: 'higher' }],
  run: async (arm, seed) => {
    const [method = '', noise] = arm.split(', ');
    return tabularRun({
      environment: noisy(lessons({ turns: 6, matter: [1, 4], words: 4 }), noise === undefined ? 0.02 : 0),
      credit: { method },
      seed,
      steps: 100,
      groups: 16,
      members: 2,
    });
  },
});
