/** Methods that learn from recorded episodes of mixed quality, against imitating all of them. */

import type { TrainSettings } from '../../../src/train/config/config.ts';
import { guessMyCity, mixedPlay } from '../environments/guess-my-city.ts';
import { defineExperiment, type Experiment } from '../experiment.ts';
import { trainRun } from '../train-run.ts';

/** Imitating everything is filtered behaviour cloning that filters nothing. */
const arms: Readonly<Record<string, TrainSettings & { readonly recipe: string }>> = {
  bc: { recipe: 'filtered-bc', objective: { options: { share: 1 } } },
  'filtered-bc': { recipe: 'filtered-bc' },
  awr: { recipe: 'awr' },
  ilql: { recipe: 'ilql', critic: { targetRate: 0.05 } },
  'mc-returns': { recipe: 'mc-returns' },
  'archer-iql': { recipe: 'archer-iql', critic: { warmupSteps: 8, updates: 10, learningRate: 3e-3 } },
  'digi-q': { recipe: 'digi-q', critic: { warmupSteps: 10, updates: 20, learningRate: 3e-3, candidates: 8 } },
};

export const recorded: Experiment = defineExperiment({
  name: 'recorded-episodes',
  methods: ['filtered-bc', 'awr', 'ilql', 'mc-returns', 'archer-iql', 'digi-q'],
  claim: 'On recorded episodes of mixed quality each of these ends above behaviour cloning of all of them',
  source:
    'LMRL-Gym, arXiv 2311.18232; AWR, arXiv 1910.00177; ArCHer, arXiv 2402.19446; Digi-Q, arXiv 2502.15760',
  setup:
    'Guess my city; 1500 episodes of an expert with 30% random moves are all there is. All begin with 100 updates of behaviour cloning and take 24 steps of 4 updates on 64 episodes at learning rate 0.002 (archer-iql and digi-q spend the first 8 or 10 steps on their critic alone). `bc` goes on imitating all. Nothing was tuned beyond the size of the critics.',
  arms: ['bc', 'filtered-bc', 'awr', 'ilql', 'mc-returns', 'archer-iql', 'digi-q'],
  comparisons: [
    { figure: 'final', arm: 'filtered-bc', against: 'bc', expect: 'higher' },
    { figure: 'final', arm: 'awr', against: 'bc', expect: 'higher' },
    { figure: 'final', arm: 'ilql', against: 'bc', expect: 'higher' },
    { figure: 'final', arm: 'mc-returns', against: 'bc', expect: 'higher' },
    { figure: 'final', arm: 'archer-iql', against: 'bc', expect: 'higher' },
    { figure: 'final', arm: 'digi-q', against: 'bc', expect: 'higher' },
  ],
  seeds: 5,
  remarks:
    'Values that guide every word (ilql, mc-returns) nearly solve the game from episodes of which a third succeed. Digi-Q ends below the policy that it starts from: it imitates what its critic likes best among eight actions, and probably that is what the critic overrates, since it only ever sees recorded actions. The smaller of both critics instead of the larger (`pool: min`, tried on one seed) changes nothing. Greedily, all but Digi-Q play well: cloning a noisy expert leaves its best action the likeliest one.',
  run: async (arm, seed) => {
    const { recipe, ...settings } = arms[arm]!;
    const { summary } = await trainRun({
      environment: guessMyCity,
      recipe,
      seed,
      settings: {
        steps: 24,
        clone: { ...mixedPlay, steps: 100 },
        optimizer: { learningRate: 2e-3, minibatches: 4 },
        ...settings,
      },
    });
    return { figures: { final: summary.after.sampled.success, greedy: summary.after.greedy!.success } };
  },
});
