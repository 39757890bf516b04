/** Experiments in a laboratory after ScienceWorld (arXiv 2203.07540): states of matter, conductivity, temperature, mixing, growing. */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import {
  drawTrial,
  EXPERIMENTS,
  type Experiment,
  nextFrom,
  perform,
  planFrom,
  possible,
  type Trial,
} from './experiments.ts';
import { describe, naturalWording, observe } from './wording.ts';

export interface LabOptions {
  readonly experiment: Experiment | 'mixed';
  readonly distractors: number;
  readonly maxTurns: number;
}

const optionsSchema = z.strictObject({
  experiment: z
    .enum([...EXPERIMENTS, 'mixed'])
    .default('mixed')
    .describe('melt, boil, freeze, conduct, measure, mix, grow, or all seven mixed'),
  distractors: z.int().min(0).max(12).default(2).describe('Things that the experiment does not need'),
  maxTurns: z.int().min(1).max(200).default(30).describe('Commands before the episode fails'),
  wording: wordingOption,
});

/** The environment. Milestones of an experiment pay equal shares of 1, each once; the wrong box ends it. */
export function scienceLab({ experiment, distractors, maxTurns }: LabOptions): Environment<Trial, Trial> {
  const experiments = experiment === 'mixed' ? EXPERIMENTS : [experiment];
  return defineEnvironment<Trial, Trial>({
    name: 'science-lab',
    description: 'Make an experiment: melt, boil, freeze, conduct, measure, mix or grow something.',
    maxTurns,
    returns: [0, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: drawnTasks(
      'science-lab',
      (rng) => drawTrial(experiments, distractors, rng),
      (trial) => planFrom(trial).length <= maxTurns,
    ),
    start: (trial) => ({ state: trial, messages: [{ role: 'user', content: observe(trial) }] }),
    step: (before, command) => {
      const { trial, reward, done, success } = perform(before, command) ?? {
        ...{ trial: before, reward: 0, done: false, success: false },
      };
      const valid = possible(before).has(command);
      const left = done ? 0 : planFrom(trial).length;
      return {
        state: trial,
        observation: done
          ? success
            ? 'done'
            : 'wrong'
          : valid
            ? observe(trial)
            : `invalid ${observe(trial)}`,
        ...{ reward, done, success, valid },
        metrics: { milestones: trial.reached.length },
        info: {
          credit: {
            dense: done && !success ? 0 : planFrom(before).length - left,
            effectiveActions: valid ? 1 : 0,
          },
        },
      };
    },
    actions: (trial) => [...possible(trial).keys()],
    solve: (trial) => nextFrom(trial),
    // Looks for what it has not seen, and sometimes does anything.
    stumble: (trial, rng) => (rng.chance(0.1) ? rng.pick([...possible(trial).keys()]) : nextFrom(trial, rng)),
    render: describe,
    natural: naturalWording,
  });
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'science-lab',
  description: 'Make an experiment: melt, boil, freeze, conduct, measure, mix or grow something.',
  options: optionsSchema,
  settings: {
    model: { width: 64, layers: 2, heads: 4, hidden: 172 },
    clone: { demonstrations: 1000, beginnerShare: 0.9, randomRate: 0.05, steps: 400, batch: 16 },
    rollout: { tasks: 16, group: 8 },
    optimizer: { learningRate: 2e-4 },
    steps: 25,
  },
  create: ({ wording, ...options }) => fromEnvironment(scienceLab(options), { wording }),
});
