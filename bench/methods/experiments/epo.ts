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
    'A chain of twelve doors, two words, thirty turns; a model of width 32 that sees the latest turn; 20 steps of 2 tasks × 8 episodes; entropy weight 0.01 in both arms, smoothing 1. wander: the standard deviation of the entropy over all steps.',
  arms: ['entropy bonus', 'epo'],
  seeds: 5,
  curve: 'mean surprise of sampled tokens, in nats',
  comparisons: [{ figure: 'wander', arm: 'epo', against: 'entropy bonus', expect: 'lower' }],
  remarks:
    'In these runs entropy falls as the task is learned and does not blow up afterwards, so that there is little for the smoothing to hold. The claim is about longer runs in which it does; none was tried.',
  async run(arm, seed) {
    const run = await trainRun({
      environment: chain({ doors: 12, turns: 30, words: 2 }),
      recipe: 'epo',
      seed,
      settings: {
        steps: 20,
        context: 'latest',
        rollout: { tasks: 2, group: 8 },
        objective: {
          entropyCoefficient: 0.01,
          entropySmoothing: arm === 'epo' ? 1 : 0,
        },
      },
    });
    const entropies = run.steps.map((step) => step['policy/entropy']!);
    const { figures } = learningOutcome(run);
    return { figures: { wander: populationStd(entropies), ...figures }, curve: entropies };
  },
});
