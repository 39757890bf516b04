/** Methods that learn from what is better than what, each against the policy that it starts from. */

import type { TrainSettings } from '../../../src/train/config/config.ts';
import { guessMyCity, mixedPlay } from '../environments/guess-my-city.ts';
import { defineExperiment, type Experiment } from '../experiment.ts';
import { trainRun } from '../train-run.ts';

/** `start` takes no step: what the others begin with. */
const arms: Readonly<Record<string, TrainSettings & { readonly recipe: string }>> = {
  start: { recipe: 'dpo', steps: 0 },
  dpo: { recipe: 'dpo' },
  kto: { recipe: 'kto' },
  rebel: { recipe: 'rebel' },
  refuel: { recipe: 'refuel', rollout: { group: 4 } },
  eto: { recipe: 'eto' },
  'agent-q': { recipe: 'agent-q' },
};

export const preferences: Experiment = defineExperiment({
  name: 'preferences',
  methods: ['dpo', 'kto', 'rebel', 'eto', 'agent-q'],
  claim: 'Each of these ends above the imitated policy that it starts from',
  source:
    'DPO, arXiv 2305.18290; M-DPO and M-KTO, arXiv 2409.02392; REBEL, arXiv 2404.16767; REFUEL, arXiv 2410.04612; ETO, arXiv 2403.02502; Agent Q, arXiv 2408.07199',
  setup:
    'Guess my city from the imitation of an expert with 30% random moves; 24 steps of 64 episodes (REFUEL: 32 and their 32 twins) at learning rate 0.001, each method with its authors’ beta or eta.',
  arms: ['start', 'dpo', 'kto', 'rebel', 'refuel', 'eto', 'agent-q'],
  comparisons: [
    { figure: 'final', arm: 'dpo', against: 'start', expect: 'higher' },
    { figure: 'final', arm: 'kto', against: 'start', expect: 'higher' },
    { figure: 'final', arm: 'rebel', against: 'start', expect: 'higher' },
    { figure: 'final', arm: 'refuel', against: 'start', expect: 'higher' },
    { figure: 'final', arm: 'eto', against: 'start', expect: 'higher' },
    { figure: 'final', arm: 'agent-q', against: 'start', expect: 'higher' },
  ],
  seeds: 5,
  run: async (arm, seed) => {
    const { recipe, ...settings } = arms[arm]!;
    const { summary, steps } = await trainRun({
      environment: guessMyCity,
      recipe,
      seed,
      settings: { steps: 24, clone: mixedPlay, optimizer: { learningRate: 1e-3 }, ...settings },
    });
    const curve = steps.map((metrics) => metrics['reward/success']!);
    return {
      figures: { final: summary.after.sampled.success, turns: summary.turns },
      ...(curve.length > 0 && { curve }),
    };
  },
});
