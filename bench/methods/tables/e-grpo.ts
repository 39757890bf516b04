/** E-GRPO: learning from groups in which all fail. */

import { lessons } from '../environments/lessons.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

export const eGrpo = defineTable({
  name: 'e-grpo',
  methods: ['e-grpo'],
  claim: 'Where nearly all groups fail as a whole, e-grpo learns and grpo does not.',
  source: 'arXiv 2510.24694',
  setup:
    'Six pages that must all be answered with one word of six each: one episode in 46,656 succeeds by chance. The environment tells the share of right pages. A table of logits; 80 steps of 4 groups × 8 episodes.',
  arms: ['grpo', 'e-grpo'],
  comparisons: [{ figure: 'final', arm: 'e-grpo', against: 'grpo', expect: 'higher' }],
  run: async (arm, seed) =>
    tabularRun({
      environment: lessons({ turns: 6, matter: [0, 1, 2, 3, 4, 5], words: 6 }),
      credit: { method: arm },
      seed,
      steps: 80,
      groups: 4,
    }),
});
