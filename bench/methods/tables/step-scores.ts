/** Step-GRPO and REINFORCE: rewards that come with the step that earned them. */

import { scored } from '../environments/scored.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

export const stepScores = defineTable({
  name: 'step-scores',
  methods: ['step-grpo'],
  claim:
    'Where every step has a score of its own, comparing steps learns in fewer steps of training than comparing whole episodes by their sum.',
  source: 'arXiv 2509.22644',
  setup:
    'Six pages, each of which pays 1 for one word of four. A table of logits; 40 steps of 4 groups × 8 episodes. Success: all six right.',
  arms: ['grpo', 'step-grpo'],
  comparisons: [{ figure: 'area', arm: 'step-grpo', against: 'grpo', expect: 'higher' }],
  run: async (arm, seed) =>
    tabularRun({ environment: scored(), credit: { method: arm }, seed, steps: 40, groups: 4 }),
});
