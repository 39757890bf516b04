/** SimpleTIR: void turns and the gradients that they cause. */

import { quantile } from '../../../src/core/statistics.ts';
import { chain } from '../environments/chain.ts';
import { defineExperiment } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

export const simpletir = defineExperiment({
  name: 'simpletir',
  methods: ['simpletir'],
  claim:
    'Leaving episodes with a void turn out of the loss removes the spikes of the gradient norm that such turns cause.',
  source: 'arXiv 2509.02479',
  setup:
    'A chain of three doors, three words and the word "mumble", which no door understands and which demonstrations contain; a model of width 32; 30 steps of 4 tasks × 8 episodes, which simpletir also ends at a void turn. spike: the 95th percentile of the gradient norm before clipping over its median, from step 10 on.',
  arms: ['grpo', 'simpletir'],
  seeds: 5,
  comparisons: [
    { figure: 'spike', arm: 'simpletir', against: 'grpo', expect: 'lower' },
    { figure: 'final', arm: 'simpletir', against: 'grpo', expect: 'no-worse', margin: 0.05 },
  ],
  remarks:
    'This is the other way round: the demonstrations contain the void word as often as any other, so that at the beginning nearly every episode has a void turn, and leaving them out leaves little to learn from. The method is made for void turns that are rare, which is what `bench/methods/tables/void-turns.ts` shows.',
  async run(arm, seed) {
    const run = await trainRun({
      environment: chain({ doors: 3, turns: 6, words: 3, mumble: true }),
      recipe: arm,
      seed,
      settings: { steps: 30, rollout: { tasks: 4, group: 8 } },
    });
    const norms = run.steps.slice(10).flatMap((step) => {
      const norm = step['optim/gradient_norm'] ?? 0;
      return norm > 0 ? [norm] : [];
    });
    const { figures, curve = [] } = learningOutcome(run);
    return {
      figures: {
        spike: norms.length === 0 ? 1 : quantile(norms, 0.95) / quantile(norms, 0.5),
        ...figures,
      },
      curve,
    };
  },
});
