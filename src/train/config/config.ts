/** Everything that decides what a run does, as one strict schema: `--help`, `--set`, the docs and validation come from it. */

import { z } from 'zod';
import { clone, credit, critic, objective, optimizer, replay } from './learn-settings.ts';
import { chat, lora, model, tinker } from './model-settings.ts';
import { count } from './numbers.ts';
import {
  batches,
  branching,
  context,
  curation,
  players,
  prompts,
  rollout,
  seats,
  tasks,
  turns,
} from './play-settings.ts';
import { stages } from './stages.ts';

const evaluation = z.strictObject({
  every: z.int().min(0).default(10).describe('Steps between evaluations; 0 is never'),
  split: z
    .enum(['test', 'validation'])
    .default('test')
    .describe(
      'Whose tasks they play; whatever is chosen by them, such as a learning rate, is chosen on validation',
    ),
  tasks: z
    .int()
    .min(0)
    .default(200)
    .describe(
      'Tasks of an evaluation during training; 0, with a pretrained model: as many as take a tenth of the run',
    ),
  finalTasks: z
    .int()
    .min(0)
    .default(500)
    .describe('Tasks of the evaluations before and after; 0 as for the others'),
  greedy: z
    .boolean()
    .default(true)
    .describe('Play the tasks greedily, too, which takes as long as at temperature 1'),
  turnControl: z
    .boolean()
    .default(false)
    .describe(
      'Play them under the turn control, where that changes what is read or written, such as by reminders',
    ),
  constrained: z
    .boolean()
    .default(false)
    .describe(
      'Hold tool calls and JSON answers to their schemas in evaluations, and never in training; pretrained models',
    ),
});

const budget = z.strictObject({
  episodes: z
    .int()
    .min(0)
    .default(0)
    .describe('Stop after the step in which this number of episodes is reached; 0 is off'),
  turns: z
    .int()
    .min(0)
    .default(0)
    .describe('Stop after the step in which this number of environment steps is reached; 0 is off'),
  tokens: z
    .int()
    .min(0)
    .default(0)
    .describe('Stop after the step in which this number of tokens is reached, to act and to learn; 0 is off'),
  minutes: z
    .number()
    .min(0)
    .default(0)
    .describe('Stop after the step in which acting and learning reach this time; 0 is off'),
});

const checkpoint = z.strictObject({
  every: count.default(10).describe('Steps between checkpoints'),
  keep: count.default(2).describe('Checkpoints that are kept'),
});

const rewardModel = z
  .strictObject({
    folder: z
      .string()
      .default('')
      .describe('Folder of a reward model that pays episodes (`turnwise reward-model`); empty: none'),
    weight: z.number().default(1).describe('Factor on its rewards'),
    turns: z
      .number()
      .default(0)
      .describe('Factor on the rise of its reward with each turn, paid to that turn; 0: episodes alone'),
    environment: z
      .number()
      .min(0)
      .default(1)
      .describe('Factor on the outcome of the environment beside it; 0: the reward model alone'),
  })
  .describe('Rewards learned from preferences');

export const trainConfigSchema = z.strictObject({
  seed: z.int().default(1).describe('Names all randomness of the run'),
  steps: z.int().min(0).default(120).describe('Reinforcement-learning steps'),
  start: z
    .string()
    .default('')
    .describe(
      'Run of the same folder whose warm start this one begins with, or RUN@STEP and RUN@last for a later checkpoint; empty makes one',
    ),
  budget: budget.prefault({}),
  teacher: z
    .string()
    .default('')
    .describe(
      'Who scores the tokens of the policy, for recipes that learn from it: RUN or RUN@STEP, the folder of a run, a pretrained model, openai:URL#MODEL or vllm:URL#MODEL',
    ),
  engine: z
    .enum(['embedded', 'tinker'])
    .default('embedded')
    .describe('The holder of the weights: this process, or a server of the Tinker API'),
  tinker: tinker.prefault({}),
  threads: z.int().min(1).default(2).describe('Threads of the embedded engine'),
  environment: z
    .looseObject({})
    .prefault({})
    .describe('Options of the environment; `turnwise envs NAME` lists them'),
  model: model.prefault({}),
  chat: chat.prefault({}),
  lora: lora.prefault({}),
  players: players.prefault({}),
  seats: seats.prefault({}),
  context: context.prefault({}),
  clone: clone.prefault({}),
  rollout: rollout.prefault({}),
  batches: batches.prefault({}),
  tasks: tasks.prefault({}),
  turns: turns.prefault({}),
  curation: curation.prefault({}),
  prompts: prompts.prefault({}),
  branching: branching.prefault({}),
  credit: credit.prefault({}),
  objective: objective.prefault({}),
  data: z
    .string()
    .default('')
    .describe(
      'Recorded episodes: the name of a run that stored some, or a file of conversations (docs/data.md). Recipes that play imitate them first, others learn from nothing else; `demonstrations` are the scripted ones',
    ),
  rewardModel: rewardModel.prefault({}),
  replay: replay.prefault({}),
  critic: critic.prefault({}),
  optimizer: optimizer.prefault({}),
  evaluation: evaluation.prefault({}),
  stages,
  checkpoint: checkpoint.prefault({}),
  rolloutLog: z.int().min(0).default(1).describe('Steps between stored rollouts; 0 stores none'),
});

/** As a run keeps it: with what a recipe of a user reads besides. */
export const storedConfigSchema = z.looseObject(trainConfigSchema.shape);

export type TrainConfig = z.output<typeof trainConfigSchema>;
type Settings = z.input<typeof trainConfigSchema>;
/** What a person, a recipe or an environment may set: any part of it. `context` alone names one. */
export type TrainSettings = Omit<Settings, 'context'> & {
  readonly context?: string | Settings['context'];
};

/** The same settings with `context` as `context.name`. */
export function spelledOut<Given extends { readonly context?: unknown }>(settings: Given): Given {
  const { context } = settings;
  return typeof context === 'object' || context === undefined
    ? settings
    : { ...settings, context: { name: context } };
}
