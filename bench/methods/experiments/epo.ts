/** EPO: entropy over long episodes that pay at the end. */

import { populationStd } from '../../../src/core/statistics.ts';
import { chain } from '../environments/chain.ts';
import { defineExperiment } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

export const epo = defineExperiment({
  name: 'epo',
  methods: ['epo'],
  claim:
    'Over thirty turns that pay at the end only, smoothing keeps the variance of the policy’s entropy over training lower than a plain entropy bonus of the same weight.',
  source: 'arXiv 2509.22576',
  setup:
    'A chain of twelve doors, two words, thirty turns; a model of width 32 that sees the latest turn; 25 steps of 4 tasks × 8 episodes; entropy weight 0.01 in both arms, smoothing 1 and ten times the size of the paper in a third. wander: the standard deviation of the entropy over all steps.',
  arms: ['entropy bonus', 'epo', 'epo, smoothing 10'],
  seeds: 5,
  comparisons: [{ figure: 'wander', arm: 'epo', against: 'entropy bonus', expect: 'lower' }],
  async run(arm, seed) {
    const run = await trainRun({
      environment: chain({ doors: 12, turns: 30, words: 2 }),
      recipe: 'epo',
      seed,
      settings: {
        steps: 25,
        model: { context: 'latest' },
        rollout: { tasks: 4, group: 8 },
        objective: {
          entropyCoefficient: 0.01,
          entropySmoothing: arm === 'epo' ? 1 : arm === 'entropy bonus' ? 0 : 10,
        },
      },
    });
    const entropies = run.steps.map((step) => step['policy/entropy']!);
    const { figures } = learningOutcome(run);
    return { figures: { wander: populationStd(entropies), ...figures }, curve: entropies };
  },
});
