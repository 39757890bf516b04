/** Settings of the demo's runs: small models and few episodes, so that minutes in a browser show something. */

import type { TrainSettings } from '../../train/config/config.ts';
import type { WorldChoice } from './messages.ts';

const common: TrainSettings = {
  evaluation: { every: 10, tasks: 100, finalTasks: 200 },
  checkpoint: { every: 1 },
};

const own: Readonly<Record<WorldChoice, TrainSettings>> = {
  'frozen-lake': {
    model: { width: 64, layers: 2, heads: 2, hidden: 128 },
    clone: { demonstrations: 1000, steps: 40 },
    rollout: { tasks: 32 },
    optimizer: { learningRate: 2e-3 },
  },
  wordle: {
    environment: { words: 24 },
    model: { width: 64, layers: 2, heads: 2, hidden: 128 },
    clone: { demonstrations: 1000, steps: 60 },
    rollout: { tasks: 24 },
    optimizer: { learningRate: 2e-3 },
    evaluation: { tasks: 96, finalTasks: 96 },
  },
  own: {
    model: { width: 32, layers: 1, heads: 2, hidden: 64 },
    clone: { demonstrations: 500, steps: 40 },
    rollout: { tasks: 16 },
    optimizer: { learningRate: 5e-3 },
  },
};

/** Steps that show something. */
export const usualSteps: Readonly<Record<WorldChoice, number>> = { 'frozen-lake': 60, wordle: 60, own: 30 };

export function demoSettings(world: WorldChoice, steps: number, seed: number): TrainSettings {
  const { evaluation, ...rest } = own[world];
  return { ...common, ...rest, evaluation: { ...common.evaluation, ...evaluation }, steps, seed };
}
