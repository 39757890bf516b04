/** Turn-PPO: one ratio for a turn of many tokens. */

import { recital } from '../environments/recital.ts';
import { defineExperiment } from '../experiment.ts';
import { clippedShare, learningOutcome, saysAnything, trainRun } from '../train-run.ts';

export const turnRatios = defineExperiment({
  name: 'turn-ratios',
  methods: ['turn-ppo'],
  claim:
    'Where turns have many tokens and a batch is used several times, the ratio of a turn, a mean over its tokens, leaves the same clip less often than ratios of tokens do (turn-gae has the same advantages), and turn-ppo learns in fewer steps than ppo on tokens and in no more than turn-gae.',
  source: 'arXiv 2512.17008',
  setup:
    'Three verses of eight words of two each; the end pays the share of right words. A model of width 32 that has seen random words; 25 steps of 8 tasks × 8 episodes, each batch used in 4 epochs of 2 minibatches; clip 0.2 below and above in all arms. area is of the mean reward; solved is nine words in ten. clipped: the mean share of tokens that the clip takes out.',
  arms: ['ppo', 'turn-gae', 'turn-ppo'],
  seeds: 5,
  comparisons: [
    { figure: 'clipped', arm: 'turn-ppo', against: 'turn-gae', expect: 'lower' },
    { figure: 'area', arm: 'turn-ppo', against: 'ppo', expect: 'higher' },
    { figure: 'area', arm: 'turn-ppo', against: 'turn-gae', expect: 'no-worse', margin: 0.02 },
  ],
  remarks:
    'The clip takes out whole turns or none of their tokens, so that its share varies much from seed to seed. Words of a turn are moved together by a model this small, so that their mean moves about as far as each. turn-gae, which has the same advantages and clips tokens, is ahead of ppo as well.',
  async run(arm, seed) {
    const run = await trainRun({
      environment: recital({ turns: 3, phrase: 8, words: 2 }),
      recipe: arm,
      seed,
      settings: {
        steps: 25,
        clone: saysAnything,
        objective: { ...(arm !== 'turn-ppo' && { clipHigh: 0.2 }) },
        optimizer: { epochs: 4, minibatches: 2 },
      },
    });
    const { figures, curve = [] } = learningOutcome(run, 'reward/mean');
    return { figures: { clipped: clippedShare(run), ...figures }, curve };
  },
});
