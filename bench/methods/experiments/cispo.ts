/** CISPO: capped weights instead of clipped ratios, where a batch is used several times. */

import { chain } from '../environments/chain.ts';
import { defineExperiment } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

export const cispo = defineExperiment({
  name: 'cispo',
  methods: ['cispo'],
  claim:
    'Where a batch is used for several optimizer steps, cispo, which keeps the gradient of every token, learns in fewer steps than grpo, which clips them.',
  source: 'arXiv 2506.13585',
  setup:
    'A chain of three doors, three words, six turns; a model of width 32; 20 steps of 8 tasks × 8 episodes, each batch used in 4 epochs of 2 minibatches; grpo with clip 0.2 below and above.',
  arms: ['grpo', 'cispo'],
  seeds: 5,
  comparisons: [{ figure: 'area', arm: 'cispo', against: 'grpo', expect: 'higher' }],
  async run(arm, seed) {
    const run = await trainRun({
      environment: chain({ doors: 3, turns: 6, words: 3 }),
      recipe: arm,
      seed,
      settings: {
        steps: 20,
        objective: { ...(arm === 'grpo' && { clipHigh: 0.2 }) },
        optimizer: { epochs: 4, minibatches: 2, learningRate: 2e-3 },
      },
    });
    return learningOutcome(run);
  },
});
