/** Tree-GRPO: branches of one episode, where one turn decides. */

import { lessons } from '../environments/lessons.ts';
import { defineExperiment } from '../experiment.ts';
import { callsToSuccess, learningOutcome, trainRun } from '../train-run.ts';

export const searchTrees = defineExperiment({
  name: 'search-trees',
  methods: ['tree-grpo'],
  claim:
    'Where one late turn decides, branching from shared beginnings finds it with fewer calls of the environment than grpo, and ends no lower.',
  source: 'arXiv 2509.21240',
  setup:
    'Eight pages, each a call, of which the sixth must be answered with one word of four; a model of width 32; 25 steps of 4 tasks × 8 episodes in both arms, of which tree-grpo branches half. calls: steps of the environment until the mean success of three steps in a row is 0.8, or all that were made.',
  arms: ['grpo', 'tree-grpo'],
  seeds: 5,
  comparisons: [
    { figure: 'calls', arm: 'tree-grpo', against: 'grpo', expect: 'lower' },
    { figure: 'final', arm: 'tree-grpo', against: 'grpo', expect: 'no-worse', margin: 0.05 },
  ],
  remarks:
    'All that is saved is what branches share with their parents: by the step, both learn equally fast. What comparing leaves inside a tree adds does not show; the advantage goes to all turns of a leaf, those before the branch included.',
  async run(arm, seed) {
    const run = await trainRun({
      environment: lessons({ turns: 8, matter: [5], words: 4 }),
      recipe: arm,
      seed,
      settings: { steps: 25, rollout: { tasks: 4, group: 8 } },
    });
    const { figures, curve = [] } = learningOutcome(run);
    return { figures: { calls: callsToSuccess(run), ...figures }, curve };
  },
});
