/** DAPO: what dynamic sampling does to a batch. */

import { chain } from '../environments/chain.ts';
import { defineExperiment } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

export const dapo = defineExperiment({
  name: 'dapo',
  methods: ['dapo'],
  claim:
    'Dynamic sampling fills batches with groups that differ: a larger share of what is learned from has a gradient, and success rises in fewer steps than with grpo, at the price of more episodes a step.',
  source: 'arXiv 2503.14476',
  setup:
    'A chain of three doors, three words, six turns; a model of width 32; 25 steps of 4 tasks × 4 episodes; dapo may play three rounds more.',
  arms: ['grpo', 'dapo'],
  seeds: 5,
  comparisons: [
    { figure: 'learned', arm: 'dapo', against: 'grpo', expect: 'higher' },
    { figure: 'area', arm: 'dapo', against: 'grpo', expect: 'higher' },
  ],
  async run(arm, seed) {
    const run = await trainRun({
      environment: chain({ doors: 3, turns: 6, words: 3 }),
      recipe: arm,
      seed,
      settings: { steps: 25, rollout: { tasks: 4, group: 4 } },
    });
    const outcome = learningOutcome(run);
    return {
      ...outcome,
      figures: {
        learned: average(run.steps.map((step) => step['samples/learned_share'] ?? 0)),
        ...outcome.figures,
        episodes: run.summary.episodes,
      },
    };
  },
});
