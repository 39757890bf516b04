/** GRPO: dividing by the spread of the group, where tasks pay on different scales. */

import { quiz } from '../environments/quiz.ts';
import { defineExperiment } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

export const rewardScales = defineExperiment({
  name: 'reward-scales',
  methods: ['grpo'],
  claim:
    'Where some tasks pay a hundred times as much as others, grpo, which measures every outcome in the standard deviations of its group, learns all of them in fewer steps than rloo, whose gradient is almost only that of the rich ones.',
  source: 'arXiv 2402.03300',
  setup:
    'Eight questions of four words; the right one pays 1 for every second question and 0.01 for the others. A model of width 32; 25 steps of 8 tasks × 8 episodes. Adam makes up for the scale of a gradient as a whole, so that both take steps of the same size.',
  arms: ['rloo', 'grpo'],
  seeds: 5,
  comparisons: [
    { figure: 'area', arm: 'grpo', against: 'rloo', expect: 'higher' },
    { figure: 'final', arm: 'grpo', against: 'rloo', expect: 'higher' },
  ],
  run: async (arm, seed) =>
    learningOutcome(
      await trainRun({
        environment: quiz({ gains: [1, 0.01] }),
        recipe: arm,
        seed,
        settings: { steps: 25 },
      }),
    ),
});
