/** GiGPO: comparing turns that acted in the same state. */

import { chain } from '../environments/chain.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

export const gigpo = defineTable({
  name: 'gigpo',
  methods: ['gigpo'],
  claim: 'Where states repeat within a group, gigpo learns in fewer steps than grpo.',
  source: 'arXiv 2505.10978',
  setup:
    'A chain of five doors, four words, fifteen turns: a wrong word leaves the agent before the same door. A table of logits; 60 steps of 4 groups × 8 episodes; gigpo with the defaults of its authors.',
  arms: ['grpo', 'gigpo'],
  comparisons: [{ figure: 'area', arm: 'gigpo', against: 'grpo', expect: 'higher' }],
  run: async (arm, seed) =>
    tabularRun({
      environment: chain({ doors: 5, turns: 15, words: 4 }),
      credit: { method: arm },
      seed,
      steps: 60,
      groups: 4,
    }),
});
