/**
 * Blocks of settings: what a way of acting or learning reads of the configuration. The schema of a recipe is made of those
 * that it names, and what is in none of them cannot be set. `blocks.test.ts` holds them to what runs really read.
 */

import { z } from 'zod';
import type { TrainSettings } from './config.ts';

type Marks<Group> = { readonly [Leaf in keyof Group]?: true | z.ZodType };

/** `true` takes a setting as every configuration has it; a schema takes it with other values. */
export type Block = {
  readonly [Name in keyof TrainSettings]?: NonNullable<TrainSettings[Name]> extends object
    ? true | Marks<NonNullable<TrainSettings[Name]>>
    : true | z.ZodType;
};

/** Every run: what it begins with, how it samples, steps, measures and keeps. */
export const everyRun: Block = {
  seed: true,
  steps: true,
  start: true,
  budget: true,
  engine: true,
  tinker: true,
  threads: true,
  environment: true,
  model: true,
  context: true,
  chat: true,
  lora: true,
  clone: true,
  data: true,
  players: true,
  seats: true,
  rollout: {
    temperature: true,
    choices: true,
    maxTurns: true,
    exchangeEvery: true,
    concurrency: true,
    batching: true,
    turnTimeoutMs: true,
  },
  optimizer: {
    learningRate: true,
    schedule: true,
    warmupSteps: true,
    finalFraction: true,
    beta1: true,
    beta2: true,
    weightDecay: true,
    clipNorm: true,
    tokenBudget: true,
  },
  evaluation: true,
  stages: true,
  checkpoint: true,
};

/** How tokens are drawn where the policy acts in training. */
export const sampling: Block = { rollout: { topP: true, topK: true } };

/** Episodes that are played to be learned from. */
export const played: Block = {
  rollout: {
    tasks: true,
    group: true,
    minimumMembers: true,
    failureLimit: true,
    policyKey: true,
  },
  batches: true,
  tasks: true,
  turns: true,
  curation: true,
  prompts: true,
  rewardModel: true,
};

/** Unsure places, from which others branch off. */
const unsurePlaces = { alpha: true, beta: true, threshold: true, width: true } as const;
export const branches: Block = { branching: { ...unsurePlaces, initial: true } };
/** The same, balanced by entropy. */
export const balancedBranches: Block = { branching: { ...unsurePlaces, balance: true, penalty: true } };
/** All places do, so that only their number counts. */
export const trees: Block = { branching: { width: true } };

/** How episodes branch where the recipe leaves it open. */
export const explored: Block = {
  branching: { explorer: true, width: true, exploration: true, mixing: true },
};

/** A teacher that scores tokens. */
export const taught: Block = { teacher: true };

/** Which steps are stored, where nothing is learned from them again: else all are. */
export const logged: Block = { rolloutLog: true };

/** Several optimizer steps on what a step gives. */
const passes: Block = { optimizer: { minibatches: true, epochs: true } };

/** Options of the loss: of the policy loss that is named, or of what the recipe minimises instead. */
const ownLoss: Block = { objective: { options: true } };

/** Advantages by a credit method, averaged over the tokens of the step. */
const credited: Block = { credit: true, objective: { aggregation: true, constant: true } };

/** The clip of token ratios, in losses that have one. */
export const clip: Block = { objective: { clipLow: true, clipHigh: true, dualClip: true } };

/** A value head that learns beside the policy. */
export const valueHead: Block = {
  objective: { valueCoefficient: true, valueClip: true, valueLoss: true, valueBins: true, valueWarmup: true },
};

/** Factor on rewards that no credit method reads. */
export const scaledRewards: Block = { credit: { rewardScale: true } };

/** What a way of learning reads, by whether episodes are played to learn from. */
export type Reads = (plays: boolean) => readonly Block[];

/** Policy gradients on the episodes of the step: loss and credit method can be chosen, and terms stand beside the loss. */
export const policyGradient: Reads = () => [
  logged,
  passes,
  ownLoss,
  credited,
  {
    objective: {
      name: true,
      entropyCoefficient: true,
      entropySmoothing: true,
      smoothing: true,
      klCoefficient: true,
      klEstimator: true,
    },
  },
];

const inRewards = z.enum(['k1']).default('k1').describe('How it is estimated: from the rewards');

/** Clipped policy gradients beside episodes of the past, in one loss: only in rewards can divergence be paid for. */
export const policyGradientBeside: Reads = () => [
  passes,
  ownLoss,
  credited,
  clip,
  { objective: { klCoefficient: true, klEstimator: inRewards }, replay: { batch: true } },
];

/** Sequences that are compared or judged: of the step, or of some of the recorded tasks. */
export const preference: Reads = (plays) => [
  passes,
  ownLoss,
  ...(plays ? [logged] : [{ replay: { batch: true } } as const]),
];

/** How many of the episodes that are played are kept. */
const kept = (plays: boolean): readonly Block[] => (plays ? [{ replay: { size: true } }] : []);

/** Kept episodes, drawn anew for every update. */
export const replayed: Reads = (plays) => [
  ownLoss,
  { replay: { updates: true, batch: true } },
  ...kept(plays),
];

/** Recorded episodes, drawn anew for every update of a loss without options. */
export const imitatesAlone: Reads = () => [{ replay: { updates: true, batch: true } }];

/** A critic in a model of its own, and the policy that learns from it. */
export const actorCritic: Reads = (plays) => [
  passes,
  ownLoss,
  scaledRewards,
  {
    replay: { batch: true },
    critic: { updates: true, warmupSteps: true, learningRate: true, discount: true, targetRate: true },
  },
  ...kept(plays),
];
