/** REFUEL learns where its own policy goes; DPO from pairs that another policy left behind. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { train } from '../../../src/exports/train.ts';
import type { TrainSettings } from '../../../src/train/config/config.ts';
import { mergeSettings } from '../../../src/train/config/merge.ts';
import { guessMyCity, mixedPlay } from '../environments/guess-my-city.ts';
import { defineExperiment, type Experiment } from '../experiment.ts';
import { smallSettings } from '../train-run.ts';

const STEPS = 24;

export const covariateShift: Experiment = defineExperiment({
  name: 'covariate-shift',
  methods: ['refuel'],
  claim: 'REFUEL on its own episodes ends above DPO on as many episodes of the policy that both start from',
  source: 'arXiv 2410.04612',
  setup:
    'Guess my city from the imitation of an expert with 30% random moves. First that policy plays 24 × 64 episodes, which DPO then compares (best and worst of 8 of a task, 24 steps of 8 tasks); REFUEL plays 24 × 32 episodes and their twins as it learns. Learning rate 0.001, beta 0.1, eta 1.',
  arms: ['dpo', 'refuel'],
  comparisons: [{ figure: 'final', arm: 'refuel', against: 'dpo', expect: 'higher' }],
  seeds: 5,
  remarks:
    'In 24 steps the policy does not go far from the one that it starts from, and the game has few states, so recorded pairs hardly miss what the learned policy meets. No difference shows.',
  run: async (arm, seed) => {
    const folder = mkdtempSync(join(tmpdir(), 'turnwise-methods-'));
    const run = (recipe: string, name: string, settings: TrainSettings) =>
      train({
        world: guessMyCity,
        recipe,
        name,
        runs: folder,
        settings: mergeSettings(
          smallSettings,
          { seed, steps: STEPS, clone: mixedPlay, optimizer: { learningRate: 1e-3 } },
          settings,
        ) as TrainSettings,
      });
    try {
      // A learning rate that moves nothing: the episodes are all of the policy that both start from.
      if (arm === 'dpo') await run('rloo', 'recorded', { rolloutLog: 1, optimizer: { learningRate: 1e-12 } });
      const summary = await (arm === 'dpo'
        ? run('dpo', 'learned', { data: 'recorded', replay: { batch: 8 } })
        : run('refuel', 'learned', { rollout: { group: 4 } }));
      return { figures: { final: summary.after.sampled.success, before: summary.before.sampled.success } };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});
