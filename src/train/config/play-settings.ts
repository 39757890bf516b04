/** Settings of acting: tasks, turns, contexts, who plays, and the choice of episodes. */

import { z } from 'zod';
import { curationRegistry, tasksRegistry } from '../../curation/registry.ts';
import { promptsRegistry } from '../../prompts/registry.ts';
import { contextRegistry } from '../../rollout/context/contexts.ts';
import { explorerNames, explorers } from '../../rollout/explore/explorers.ts';
import { turnsRegistry } from '../../rollout/turns/turn-controls.ts';
import { count, share } from './numbers.ts';

const listed = (entries: readonly { readonly name: string; readonly summary: string }[]): string =>
  entries.map(({ name, summary }) => `${name} (${summary})`).join(', ');

export const rollout = z.strictObject({
  tasks: count.default(64).describe('Tasks in a step (P)'),
  group: count.default(8).describe('Episodes of each task (G)'),
  temperature: z.number().positive().default(1).describe('Sampling temperature'),
  policyKey: z
    .string()
    .default('')
    .describe(
      'Names the chance with which the policy samples in training, besides the seed: runs that differ in it alone are a control',
    ),
  topP: z.number().positive().max(1).default(1).describe('Nucleus: keep tokens up to this probability mass'),
  topK: z.int().min(0).default(0).describe('Keep the k likeliest tokens; 0 keeps all'),
  choices: z
    .boolean()
    .default(false)
    .describe(
      'Restrict each action to the legal ones, where the environment lists at most 256; true with --model unless set',
    ),
  maxTurns: z.int().min(0).default(0).describe('Turn limit; 0 takes the environment’s'),
  exchangeEvery: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'Steps after which the agents of several roles exchange them, each of which reads its name; 0: no names, no exchange',
    ),
  concurrency: count.default(256).describe('Episodes under way at once'),
  batching: z
    .enum(['auto', 'lockstep', 'continuous'])
    .default('auto')
    .describe(
      'Completions are sampled when every live episode waits for one (lockstep: the same bits every time), or each at its request; auto: lockstep if the engine is deterministic',
    ),
  turnTimeoutMs: count.default(20_000).describe('Deadline of one environment step, in milliseconds'),
  minimumMembers: count.default(2).describe('A group with fewer usable episodes is dropped'),
  failureLimit: z
    .int()
    .min(0)
    .default(3)
    .describe('Steps in a row in which every episode failed, after which the run stops; 0 never stops it'),
});

export const tasks = z
  .looseObject({
    name: z
      .string()
      .default('uniform')
      .describe(`Source of tasks: ${listed(tasksRegistry.all)}, or a file; tasks=NAME says the same`),
  })
  .describe('Further keys are the options of the source');

export const turns = z
  .looseObject({
    name: z
      .string()
      .default('usual')
      .describe(
        `Turn control in training: ${listed(turnsRegistry.all)}, or a file; turns=NAME says the same`,
      ),
  })
  .describe('Further keys are the options of the control');

export const prompts = z
  .looseObject({
    name: z
      .string()
      .default('none')
      .describe(
        `Source of the instruction that episodes read: ${listed(promptsRegistry.all)}, or a file; prompts=NAME says the same`,
      ),
    proposer: z
      .string()
      .default('')
      .describe(
        'Who writes new prompts: openai:URL#MODEL (key in OPENAI_API_KEY), learner (the model itself, where it has a chat template), or a file',
      ),
    alone: z
      .boolean()
      .default(false)
      .describe(
        'Whether only prompts learn: the weights stay as they are after imitation, and no gradient is computed',
      ),
  })
  .describe('Further keys are the options of the source');

export const batches = z
  .strictObject({
    maxStaleness: z
      .int()
      .min(0)
      .default(0)
      .describe(
        'Steps that are played ahead while the learner learns; older completions are not learned from. Above 0 completions are not sampled in lockstep, and runs cannot be repeated bit for bit',
      ),
    parts: count
      .default(1)
      .describe(
        'Parts of the groups of a step, each of which is learned from when it has ended, while others are still played; new weights act after the last. Completions are not sampled in lockstep then',
      ),
    order: z
      .enum(['asked', 'ended'])
      .default('asked')
      .describe(
        'Groups that a step learns from: the ones that it requested, or the first to end, whichever step requested them; then in one round',
      ),
    extra: z
      .int()
      .min(0)
      .default(0)
      .describe('With order=ended: groups in progress beyond the step’s number'),
  })
  .describe('Acting and learning apart');

export const curation = z
  .looseObject({})
  .describe(
    `NAME.OPTION=VALUE, NAME={} for its defaults, or NAME=false for none, one after another: ${listed(curationRegistry.all)}, or a file`,
  );

export const branching = z
  .strictObject({
    initial: share.default(0.5).describe('Share of a group’s episodes that are played from the start'),
    alpha: z.number().default(0.5).describe('Base of the branching score'),
    beta: z.number().default(0.2).describe('Weight in it of the entropy above the first turn’s'),
    threshold: z.number().default(0.5).describe('A turn whose score is above this is a place to branch'),
    width: count.default(2).describe('Branches that one place gets at most; in trees, children of a node'),
    explorer: z
      .enum(['none', ...explorerNames])
      .default('none')
      .describe(
        `How the episodes of a task branch, where the recipe leaves it open: ${explorerNames.map((name) => `${name} (${explorers[name].summary})`).join(', ')}`,
      ),
    exploration: z.number().min(0).default(1).describe('With mcts: weight of actions that were seldom taken'),
    mixing: share
      .default(0.5)
      .describe('With mcts and a critic: share of the search in the value of an action'),
    balance: z
      .number()
      .min(0)
      .default(0)
      .describe('How strongly surprise at the first turn decides the share from the start; 0 is half (AEPO)'),
    penalty: share
      .default(0)
      .describe('How much each branch lowers the score of others of its episode (AEPO)'),
  })
  .describe('Where episodes branch');

export const context = z
  .looseObject({
    name: z
      .string()
      .default('full')
      .describe(
        `The context of the policy: ${contextRegistry.all.map(({ name, summary }) => `${name} (${summary})`).join(', ')}, or a file; context=NAME for short`,
      ),
    trained: z
      .boolean()
      .default(true)
      .describe('Whether completions that the context asks for, such as summaries, are trained'),
  })
  .describe('Further keys are the options of the context');

export const players = z
  .looseObject({})
  .describe(
    'Who may sit in a seat besides `learner`: NAME=past:STEPS (the learner as it was), RUN@STEP, script:expert or openai:URL#MODEL',
  );

export const seats = z
  .looseObject({})
  .describe('Who plays which role: ROLE=NAME of players; the learner plays all others');
