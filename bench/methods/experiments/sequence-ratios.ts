/** GSPO: one ratio for a sequence of many tokens. */

import type { TrainSettings } from '../../../src/train/config/config.ts';
import { recital } from '../environments/recital.ts';
import { defineExperiment } from '../experiment.ts';
import { clippedShare, learningOutcome, saysAnything, trainRun } from '../train-run.ts';

const arms: Readonly<Record<string, TrainSettings & { readonly recipe: string }>> = {
  grpo: { recipe: 'grpo' },
  gspo: { recipe: 'gspo' },
  'gspo, clip of grpo': { recipe: 'gspo', objective: { options: { clipLow: 0.2, clipHigh: 0.28 } } },
};

export const sequenceRatios = defineExperiment({
  name: 'sequence-ratios',
  methods: ['gspo'],
  claim:
    'Where answers are long and a batch is cut into four minibatches, gspo clips a share of tokens that is ten times that of grpo or more, and yet learns in fewer steps.',
  source: 'arXiv 2507.18071',
  setup:
    'One verse of 24 words of two each; the end pays the share of right words. A model of width 32 that has seen random words; 25 steps of 8 tasks × 8 episodes in 4 minibatches; gspo with the narrow clip of its authors, and, without a claim, with that of grpo (0.2 below, 0.28 above). area is of the mean reward; solved is nine words in ten. clipped: the mean share of tokens that the clip takes out.',
  arms: ['grpo', 'gspo', 'gspo, clip of grpo'],
  seeds: 5,
  comparisons: [
    { figure: 'clipped', arm: 'gspo', against: 'grpo', expect: 'higher', factor: 10 },
    { figure: 'area', arm: 'gspo', against: 'grpo', expect: 'higher' },
  ],
  remarks:
    'gspo with the clip of its authors takes no gradient from two fifths of the tokens, and by the mean of five seeds is behind; it learned something in every seed, where grpo and gspo with the wide clip stood still in one. The steps of this small model move ratios much further than the authors’ did, so that after the first of the four minibatches most sequences are outside their range. Nothing here makes the ratios of tokens noisier than their sequence, as a mixture of experts does.',
  async run(arm, seed) {
    const { recipe, ...own } = arms[arm]!;
    const run = await trainRun({
      environment: recital({ turns: 1, phrase: 24, words: 2 }),
      recipe,
      seed,
      settings: { steps: 25, clone: saysAnything, optimizer: { minibatches: 4 }, ...own },
    });
    const { figures, curve = [] } = learningOutcome(run, 'reward/mean');
    return { figures: { clipped: clippedShare(run), ...figures }, curve };
  },
});
