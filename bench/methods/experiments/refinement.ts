/** MALT: answer, critique and refinement, each judged by the leaves below it. */

import { review } from '../environments/review.ts';
import { defineExperiment } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

export const refinement = defineExperiment({
  name: 'refinement',
  methods: ['malt'],
  claim:
    'Imitating the answers, critiques and refinements most of whose leaves are right ends above the policy that it starts from, and learns in fewer steps than imitating all turns of right leaves, in which a critique is credited for what its refinement happened to be.',
  source: 'arXiv 2412.01928',
  setup:
    'One right word of two, which only the critic sees; the answer is a guess, and refinement sees the answer and one word of critique, whose meaning must be agreed upon. A model of width 32 that sees the latest turn and has imitated an expert with 60% random moves; 40 steps of 8 trees of 3 × 3 × 3 leaves. Right leaves: the same trees and loss, with the outcome of its leaf as the advantage of every turn. start: no step is taken.',
  remarks:
    'In a first version the model had seen random words only, and those of all turns: it began at 0.08, since it said words out of place. Both arms then learned which words belong to which turn, and no more than that: after 40 steps malt was at 0.494 and right leaves at 0.489, where guessing gives 0.5. Now two seeds in five of either arm find a meaning for the critique within 40 steps, and the others stay near guessing: which is faster, five seeds do not tell.',
  arms: ['start', 'right leaves', 'malt'],
  seeds: 5,
  comparisons: [
    { figure: 'final', arm: 'malt', against: 'start', expect: 'higher' },
    { figure: 'area', arm: 'malt', against: 'right leaves', expect: 'higher' },
  ],
  async run(arm, seed) {
    const run = await trainRun({
      environment: review(),
      recipe: 'malt',
      seed,
      settings: {
        steps: arm === 'start' ? 0 : 40,
        context: 'latest',
        clone: { demonstrations: 400, randomRate: 0.6, steps: 60 },
        rollout: { tasks: 8, group: 27 },
        ...(arm === 'right leaves' && { credit: { method: 'reinforce' } }),
      },
    });
    const { figures, curve = [] } = learningOutcome(run);
    return arm === 'start' ? { figures: { ...figures, area: figures.final! } } : { figures, curve };
  },
});
