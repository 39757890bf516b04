/** PPO: what the clip is for, where a batch is used for many optimizer steps. */

import { chain } from '../environments/chain.ts';
import { defineExperiment } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

export const clipping = defineExperiment({
  name: 'clipping',
  methods: ['ppo'],
  claim:
    'Where a batch is used for many optimizer steps, ppo with its clip learns in fewer steps than the same without it.',
  source: 'arXiv 1707.06347',
  setup:
    'A chain of three doors, three words, six turns; a model of width 32; 20 steps of 8 tasks × 8 episodes, each batch used in 6 epochs of 4 minibatches at learning rate 0.005. Not clipped: no bound on ratios, and no dual clip.',
  arms: ['ppo, not clipped', 'ppo'],
  seeds: 5,
  comparisons: [
    { figure: 'area', arm: 'ppo', against: 'ppo, not clipped', expect: 'higher' },
    { figure: 'final', arm: 'ppo', against: 'ppo, not clipped', expect: 'no-worse', margin: 0.02 },
  ],
  remarks:
    'The setting is harsh on purpose: 24 optimizer steps a batch at this rate. Without the clip four seeds in five end at nothing; with it one does, after it had solved the task, and none is steady.',
  run: async (arm, seed) =>
    learningOutcome(
      await trainRun({
        environment: chain({ doors: 3, turns: 6, words: 3 }),
        recipe: 'ppo',
        seed,
        settings: {
          steps: 20,
          optimizer: { epochs: 6, minibatches: 4 },
          ...(arm !== 'ppo' && { objective: { clipLow: 1, clipHigh: 1e9, dualClip: 0 } }),
        },
      }),
    ),
});
