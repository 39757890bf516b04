/** Clip-Cov and KL-Cov: entropy that collapses where nothing holds it. */

import { mean } from '../../../src/core/statistics.ts';
import type { Environment } from '../../../src/env/environment.ts';
import type { TrainSettings } from '../../../src/train/config/config.ts';
import { lessons } from '../environments/lessons.ts';
import { misjudged } from '../environments/misjudged.ts';
import { defineExperiment, type Experiment, type Outcome } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

/** The authors' shares are of batches of millions of tokens; two in ten thousand of these would be no token at all. */
const options: Readonly<Record<string, Required<Pick<TrainSettings, 'objective'>>['objective']>> = {
  grpo: {},
  'clip-cov': { options: { share: 0.02 } },
  'kl-cov': { options: { share: 0.02 } },
};

const held: Experiment['comparisons'] = [
  { figure: 'entropy', arm: 'clip-cov', against: 'grpo', expect: 'higher' },
  { figure: 'final', arm: 'clip-cov', against: 'grpo', expect: 'no-worse', margin: 0.05 },
  { figure: 'entropy', arm: 'kl-cov', against: 'grpo', expect: 'higher' },
  { figure: 'final', arm: 'kl-cov', against: 'grpo', expect: 'no-worse', margin: 0.05 },
];

export const covariance = defineExperiment({
  name: 'covariance',
  methods: ['clip-cov', 'kl-cov'],
  claim:
    'Where large steps on every batch make the entropy collapse under grpo, clip-cov and kl-cov keep it higher at no lower success.',
  source: 'arXiv 2505.22617',
  setup:
    'Six pages, four words, the second and the fifth page matter, so that four of six turns need not become certain of anything; a model of width 32 that sees the latest page; 30 steps of 2 tasks × 8 episodes, each batch used in 4 epochs of 2 minibatches, learning rate 0.01. Both methods hold 2% of the tokens of a minibatch, otherwise as their authors have them. entropy: its mean over the last six steps.',
  arms: ['grpo', 'clip-cov', 'kl-cov'],
  seeds: 5,
  comparisons: held,
  remarks:
    'The premise failed: on the seed on which the setting was chosen grpo’s entropy collapsed, on these it ended where four open pages leave it. So there was nothing to hold. Clip-Cov drew its tokens from those that taught most and learned later. KL-Cov has no clip, and eight updates on one batch moved it far: its entropy fell more, and one seed learned nothing. [noisy-verdicts](#noisy-verdicts) is a setting in which grpo’s entropy does collapse.',
  run: (arm, seed) =>
    heldRun(arm, seed, lessons({ turns: 6, matter: [1, 4], words: 4 }), {
      steps: 30,
      optimizer: { epochs: 4, minibatches: 2, learningRate: 1e-2 },
    }),
});

export const noisyVerdicts = defineExperiment({
  name: 'noisy-verdicts',
  methods: ['clip-cov', 'kl-cov'],
  claim:
    'Where verdicts err, so that groups never agree and a policy is pushed about by chance, its entropy collapses under grpo; clip-cov and kl-cov keep it higher at no lower success.',
  source: 'arXiv 2505.22617',
  setup:
    'The pages of [covariance](#covariance), two verdicts in ten the wrong way round, so that success lies between 0.2 and 0.8; 60 steps of 4 tasks × 8 episodes, each used twice in 2 minibatches, learning rate 0.01. entropy: its mean over the last six steps.',
  arms: ['grpo', 'clip-cov', 'kl-cov'],
  seeds: 5,
  comparisons: held,
  remarks:
    'Under grpo the policy becomes certain in every seed, in four of five of something wrong. KL-Cov falls further: its penalty is on one token in fifty, and beside it the ratios are free of the clip that holds grpo.',
  run: (arm, seed) =>
    heldRun(arm, seed, misjudged({ turns: 6, matter: [1, 4], words: 4, errors: 0.2 }), {
      steps: 60,
      rollout: { tasks: 4, group: 8 },
      optimizer: { epochs: 2, learningRate: 1e-2 },
    }),
});

async function heldRun(
  arm: string,
  seed: number,
  environment: Environment,
  settings: TrainSettings,
): Promise<Outcome> {
  const run = await trainRun({
    environment,
    recipe: arm,
    seed,
    settings: {
      context: 'latest',
      objective: options[arm],
      rollout: { tasks: 2, group: 8 },
      ...settings,
    },
  });
  const entropies = run.steps.map((step) => step['policy/entropy']!);
  const { figures } = learningOutcome(run);
  return { figures: { entropy: mean(entropies.slice(-6)), ...figures }, curve: entropies };
}
