/** ARPO and AEPO: what branching saves. */

import { chain } from '../environments/chain.ts';
import { defineExperiment } from '../experiment.ts';
import { callsToSuccess, learningOutcome, trainRun } from '../train-run.ts';

export const arpo = defineExperiment({
  name: 'arpo',
  methods: ['arpo', 'aepo'],
  claim: 'Branching reaches the same success with at most half the calls of the environment.',
  source: 'arXiv 2507.19849; arXiv 2510.14545',
  setup:
    'A chain of four doors, three words, ten turns, each a call; a model of width 32; 25 steps of 4 tasks × 8 episodes in every arm; aepo with balance 1 and penalty 0.2, measured when the number of its fresh episodes was rounded. calls: steps of the environment until the mean success of three steps in a row is 0.8, or all that were made.',
  arms: ['grpo', 'arpo', 'aepo'],
  seeds: 5,
  comparisons: [
    { figure: 'calls', arm: 'arpo', against: 'grpo', expect: 'lower', factor: 2 },
    { figure: 'final', arm: 'arpo', against: 'grpo', expect: 'no-worse', margin: 0.05 },
    { figure: 'calls', arm: 'aepo', against: 'grpo', expect: 'lower', factor: 2 },
    { figure: 'final', arm: 'aepo', against: 'grpo', expect: 'no-worse', margin: 0.05 },
  ],
  remarks:
    'About a quarter of the calls of a step and a fifth of those to the goal are saved: half of each group starts afresh, and only what a branch shares with its parent is saved. Half the calls would need fewer fresh episodes or longer shared prefixes.',
  async run(arm, seed) {
    const run = await trainRun({
      environment: chain({ doors: 4, turns: 10, words: 3 }),
      recipe: arm,
      seed,
      settings: {
        ...{ steps: 25, rollout: { tasks: 4, group: 8 } },
        ...(arm === 'aepo' && { branching: { balance: 1, penalty: 0.2 } }),
      },
    });
    const outcome = learningOutcome(run);
    return {
      ...outcome,
      figures: {
        calls: callsToSuccess(run),
        callsPerStep: run.summary.turns / run.steps.length,
        ...outcome.figures,
      },
    };
  },
});
