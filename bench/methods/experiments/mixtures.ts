/** Learning from something remembered beside fresh episodes: own successes (SPEAR), demonstrations (DataMind). */

import type { TrainSettings } from '../../../src/train/config/config.ts';
import { guessMyCity, mixedPlay } from '../environments/guess-my-city.ts';
import { defineExperiment, type Experiment } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

const settings: TrainSettings = {
  steps: 30,
  // Success is rare at the start: about one episode in eight.
  clone: { ...mixedPlay, randomRate: 0.45 },
  optimizer: { learningRate: 3e-3 },
  replay: { size: 2048, batch: 32 },
};

const run = async (recipe: string, seed: number, more: TrainSettings = {}) =>
  learningOutcome(
    await trainRun({ environment: guessMyCity, recipe, seed, settings: { ...settings, ...more } }),
  );

export const selfImitation: Experiment = defineExperiment({
  name: 'self-imitation',
  methods: ['spear-sil'],
  claim: 'Where success is rare at first, replaying own successes learns faster than the same without replay',
  source: 'SPEAR, arXiv 2509.22601',
  setup:
    'Guess my city, paid only at the end, from the imitation of an expert with 45% random moves. Credit is that of Dr. GRPO, the loss Clip-Cov; SPEAR replays up to 32 good episodes of the last 5 steps in every update, with a warm-up of 10 steps, and without replay their weight is 0.',
  arms: ['without-replay', 'spear-sil'],
  comparisons: [{ figure: 'area', arm: 'spear-sil', against: 'without-replay', expect: 'higher' }],
  seeds: 5,
  run: (arm, seed) =>
    run('spear-sil', seed, {
      objective: { options: { warmupSteps: 10, coefficient: arm === 'spear-sil' ? 1 : 0 } },
    }),
});

export const mixedLoss: Experiment = defineExperiment({
  name: 'mixed-loss',
  methods: ['sft-rl'],
  claim:
    'Imitating demonstrations beside policy gradients learns faster than policy gradients after imitation',
  source: 'DataMind, arXiv 2509.25084',
  setup:
    'Guess my city from the imitation of an expert with 45% random moves, whose episodes are also what is imitated beside GRPO: the share of imitation falls from 0.9 to 0.05 in 15 of 30 steps.',
  arms: ['grpo', 'sft-rl'],
  comparisons: [{ figure: 'area', arm: 'sft-rl', against: 'grpo', expect: 'higher' }],
  seeds: 5,
  remarks:
    'The demonstrations here are no better than what the policy has imitated already, so that imitating them goes on pulling it back while the policy gradient moves it away. The paper’s come from a stronger model.',
  run: (arm, seed) => run(arm, seed, arm === 'sft-rl' ? { objective: { options: { decaySteps: 15 } } } : {}),
});
