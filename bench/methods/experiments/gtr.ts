/** GTR: what becomes of thoughts where only the end of an episode pays. */

import { mean } from '../../../src/core/statistics.ts';
import type { TrainSettings } from '../../../src/train/config/config.ts';
import { mergeSettings } from '../../../src/train/config/merge.ts';
import { ezPoints } from '../environments/ez-points.ts';
import { defineExperiment } from '../experiment.ts';
import { learningOutcome, trainRun } from '../train-run.ts';

/** Without imitation and with the whole advantage on thoughts the recipe is PPO, and still counts what is wrong. */
const ppo: TrainSettings['objective'] = { options: { imitationCoefficient: 0, thoughtWeight: 1 } };
const largeSteps: TrainSettings['optimizer'] = { learningRate: 5e-3 };

const arms: Readonly<Record<string, TrainSettings>> = {
  ppo: { objective: ppo },
  gtr: {},
  'ppo, large steps': { objective: ppo, optimizer: largeSteps },
  'gtr, large steps': { optimizer: largeSteps },
};

export const gtrExperiment = defineExperiment({
  name: 'thoughts',
  methods: ['gtr'],
  claim:
    'Where only the end of an episode pays, PPO on thoughts and actions leaves thoughts wrong, and with large steps makes them worse than they were; imitating corrected thoughts beside it makes them right, and success rises in fewer steps.',
  source: 'arXiv 2503.08525',
  setup:
    'EZPoints: two cards that make 12, a formula written one symbol a turn; a turn is a thought of two words (sum or product, and the next symbol) and the symbol. A corrector knows both. A model of width 32 that sees the latest turn, from imitating formulas with a tenth of the symbols at random; 40 steps of 8 deals × 8 episodes, learning rate 0.001 (where PPO learned best on a seed apart, of 0.001, 0.002 and 0.005), and 0.005 for large steps. wrong: the share of thoughts that the corrector would change, over the last eight steps; at first: in the first step.',
  arms: ['ppo', 'gtr', 'ppo, large steps', 'gtr, large steps'],
  seeds: 5,
  comparisons: [
    { figure: 'area', arm: 'gtr', against: 'ppo', expect: 'higher' },
    { figure: 'wrong', arm: 'gtr', against: 'ppo', expect: 'lower' },
    { figure: 'area', arm: 'gtr, large steps', against: 'ppo, large steps', expect: 'higher' },
    { figure: 'wrong', arm: 'gtr, large steps', against: 'ppo, large steps', expect: 'lower' },
  ],
  remarks:
    'With small steps PPO harms no thoughts and the gain is small. With large ones PPO loses thoughts, form and success in every seed. Corrections keep most thoughts right, and some success in three seeds of five, less than small steps have.',
  async run(arm, seed) {
    const settings = mergeSettings(
      {
        steps: 40,
        context: 'latest',
        clone: { demonstrations: 1500, randomRate: 0.1, steps: 250 },
        optimizer: { learningRate: 1e-3 },
        replay: { batch: 32 },
      },
      arms[arm],
    ) as TrainSettings;
    const run = await trainRun({ environment: ezPoints, recipe: 'gtr', seed, settings });
    const wrong = run.steps.map((step) => step['thoughts/corrected_share']!);
    const { figures, curve = [] } = learningOutcome(run);
    return { figures: { ...figures, wrong: mean(wrong.slice(-8)), 'at first': wrong[0]! }, curve };
  },
});
