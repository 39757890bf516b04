/** SimpleTIR again: one void turn that is forced upon a policy that would hardly ever write it. */

import { chain } from '../environments/chain.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

// In a first version the void turns came at step 60 of a harder chain, before the policy had learned it, and the
// episodes were left out from the beginning: the peak was lower (0.127 against 0.162), and so was the area (0.233
// against 0.311).
export const voidTurns = defineTable({
  name: 'void-turns',
  methods: ['simpletir'],
  claim:
    'In a policy that has learned its task, a void turn that is forced upon a few episodes makes a spike of the gradient norm with grpo; leaving those episodes out of the loss removes it.',
  source: 'arXiv 2509.02479',
  setup:
    'A chain of two doors, two words, two turns, so that a void turn is a failure. From step 150 of 200 on, the first turn of 3% of the episodes is "mumble", which no door understands, and only from then on do the arms differ. A table of logits; 4 groups × 8 episodes. peak: the largest gradient norm from step 150 on.',
  arms: ['grpo', 'simpletir'],
  comparisons: [
    { figure: 'peak', arm: 'simpletir', against: 'grpo', expect: 'lower' },
    { figure: 'area', arm: 'simpletir', against: 'grpo', expect: 'no-worse', margin: 0.05 },
  ],
  run: async (arm, seed) =>
    tabularRun({
      environment: chain({ doors: 2, turns: 2, words: 2, mumble: true }),
      credit: { method: 'grpo' },
      seed,
      steps: 200,
      groups: 4,
      injected: { action: 'mumble', rate: 0.03, from: 150 },
      masksVoidTurns: arm === 'simpletir',
    }),
});
