/** G-RA: a reward on the way that can be had without solving the task. */

import { chain } from '../environments/chain.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

export const gRa = defineTable({
  name: 'g-ra',
  methods: ['g-ra'],
  claim:
    'A dense reward that can be hacked makes success collapse where it is simply added, and does not where it counts only for episodes that pass the gate.',
  source: 'arXiv 2508.10548',
  setup:
    'A chain of three doors, three words, eight turns. Opening a door pays 0.1 on the way; the word "knock" pays 0.5 and opens nothing; the end pays 1. A table of logits; 80 steps of 4 groups × 8 episodes; gate at an outcome of 1.',
  arms: ['ungated', 'g-ra', 'outcome only'],
  comparisons: [
    { figure: 'final', arm: 'g-ra', against: 'ungated', expect: 'higher' },
    { figure: 'area', arm: 'g-ra', against: 'outcome only', expect: 'no-worse', margin: 0.1 },
  ],
  run: async (arm, seed) =>
    tabularRun({
      environment: chain({ doors: 3, turns: 8, words: 3, knock: 0.5 }),
      credit:
        arm === 'outcome only'
          ? { method: 'grpo' }
          : { method: 'g-ra', options: { threshold: 1, gated: arm === 'g-ra' } },
      seed,
      steps: 80,
      groups: 4,
    }),
});
