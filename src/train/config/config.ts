/** Everything that decides what a run does, as one strict schema: `--help`, `--set`, the docs and validation come from it. */

import { z } from 'zod';
import { curationRegistry, tasksRegistry } from '../../curation/registry.ts';
import { policyLosses } from '../../objective/objectives.ts';
import { klEstimators } from '../../objective/regularizer/kl.ts';
import { contextRegistry } from '../../rollout/context/contexts.ts';
import { turnsRegistry } from '../../rollout/turns/turn-controls.ts';

const count = z.int().min(1);
const share = z.number().min(0).max(1);

const model = z.strictObject({
  pretrained: z
    .string()
    .default('')
    .describe('Checkpoint folder, or owner/name on the hub, to start from; empty makes a small model'),
  width: count.default(128).describe('Width of the residual stream'),
  layers: count.default(3).describe('Transformer blocks'),
  heads: count.default(4).describe('Attention heads; must divide the width'),
  hidden: count.default(344).describe('Width of the feed-forward layer (SwiGLU)'),
});

const chat = z
  .strictObject({
    maxTurnTokens: z
      .int()
      .min(0)
      .default(0)
      .describe(
        'Longest completion of a pretrained model, in tokens; 0: twice the longest action that it imitates, 128 where it imitates nothing',
      ),
    contextLength: z
      .int()
      .min(0)
      .default(0)
      .describe('Longest conversation in tokens; 0 takes the pretrained model’s, at most 4096'),
    system: z
      .string()
      .default('')
      .describe('The first system message; empty makes one from the environment’s description and actions'),
    thinking: z
      .enum(['template', 'on', 'off'])
      .default('template')
      .describe('enable_thinking of the chat template; template leaves it undefined'),
  })
  .describe('How a pretrained model is spoken to');

const lora = z
  .strictObject({
    rank: z
      .int()
      .min(0)
      .default(0)
      .describe('Rank of the adapters, with --model or a server 16 unless set; 0 trains all weights'),
    alpha: z.number().min(0).default(0).describe('Their scale is alpha / rank; 0 is twice the rank'),
    targets: z.enum(['attention', 'mlp', 'all']).default('all').describe('Matrices that have an adapter'),
  })
  .describe('Low-rank adapters over a pretrained model');

const tinker = z
  .strictObject({
    baseUrl: z.string().default('').describe('Address of the server, without /api/v1'),
    baseModel: z.string().default('').describe('The server’s name of the model to train'),
    lossScale: z
      .enum(['auto', 'sum', 'mean'])
      .default('auto')
      .describe('Whether the server adds losses up or averages them; auto finds out'),
    protobuf: z.boolean().default(false).describe('Send batches as protobuf, where a server insists on it'),
  })
  .describe('The server of the Tinker API that trains, with engine=tinker');

const clone = z.strictObject({
  demonstrations: count.default(2000).describe('Scripted episodes to imitate'),
  beginnerShare: share
    .default(0.5)
    .describe('Share of them played by the beginner script instead of the expert'),
  randomRate: share.default(0.5).describe('Share of moves replaced by random ones'),
  imitateRandom: z
    .boolean()
    .default(true)
    .describe(
      'Whether random moves are imitated; if not, they are played, and what follows them is imitated',
    ),
  steps: z.int().min(0).default(50).describe('Behaviour-cloning updates'),
  untilValid: share
    .default(0)
    .describe(
      'Imitation ends when this share of the policy’s turns is valid, measured before it begins, and every 4 updates from the 12th on; 0 takes all updates',
    ),
  batch: count.default(64).describe('Demonstrations in an update'),
  learningRate: z.number().positive().default(2e-3).describe('Peak learning rate'),
  schedule: z.enum(['constant', 'cosine']).default('cosine').describe('Decay after the warm-up, to 10%'),
  warmupSteps: z.int().min(0).default(20).describe('Updates of linear warm-up'),
  from: z
    .enum(['successful', 'all'])
    .default('successful')
    .describe('Recorded episodes that are imitated, where data names a run or a file'),
});

const rollout = z.strictObject({
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

const listed = (entries: readonly { readonly name: string; readonly summary: string }[]): string =>
  entries.map(({ name, summary }) => `${name} (${summary})`).join(', ');

const tasks = z
  .looseObject({
    name: z
      .string()
      .default('uniform')
      .describe(`Source of tasks: ${listed(tasksRegistry.all)}, or a file; tasks=NAME says the same`),
  })
  .describe('Further keys are the options of the source');

const turns = z
  .looseObject({
    name: z
      .string()
      .default('usual')
      .describe(
        `Turn control in training: ${listed(turnsRegistry.all)}, or a file; turns=NAME says the same`,
      ),
  })
  .describe('Further keys are the options of the control');

const batches = z
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

const curation = z
  .looseObject({})
  .describe(
    `NAME.OPTION=VALUE, NAME={} for its defaults, or NAME=false for none, one after another: ${listed(curationRegistry.all)}, or a file`,
  );

const branching = z
  .strictObject({
    initial: share.default(0.5).describe('Share of a group’s episodes that are played from the start'),
    alpha: z.number().default(0.5).describe('Base of the branching score'),
    beta: z.number().default(0.2).describe('Weight in it of the entropy above the first turn’s'),
    threshold: z.number().default(0.5).describe('A turn whose score is above this is a place to branch'),
    width: count.default(2).describe('Branches that one place gets at most; in trees, children of a node'),
    balance: z
      .number()
      .min(0)
      .default(0)
      .describe('How strongly surprise at the first turn decides the share from the start; 0 is half (AEPO)'),
    penalty: share
      .default(0)
      .describe('How much each branch lowers the score of others of its episode (AEPO)'),
  })
  .describe('Where recipes that branch episodes do it');

const credit = z
  .looseObject({
    method: z
      .string()
      .default('rloo')
      .describe('How rewards become advantages: a method of `turnwise credit --help`, or a file'),
    rewardScale: z.number().positive().default(1).describe('Factor on every reward before credit'),
    shape: z
      .looseObject({})
      .prefault({})
      .describe('Reward shapings before the method: NAME.OPTION=VALUE, or NAME={} for its defaults'),
  })
  .describe('Further keys are the options of the method');

const objective = z.strictObject({
  name: z
    .string()
    .default('ppo-clip')
    .describe(`Policy loss: ${policyLosses.join(', ')}, or a file such as ./loss.ts`),
  options: z.looseObject({}).prefault({}).describe('Options of this policy loss, or of the recipe’s loss'),
  clipLow: share.default(0.2).describe('Clip of token ratios below 1, in losses that have one'),
  clipHigh: z.number().positive().default(0.28).describe('Clip of token ratios above 1'),
  dualClip: z
    .union([z.literal(0), z.number().gt(1)])
    .default(3)
    .describe('Bound on the loss of negative advantages, above 1; 0 is off'),
  entropyCoefficient: z.number().min(0).default(0).describe('Weight of the entropy bonus'),
  entropySmoothing: z
    .number()
    .min(0)
    .default(0)
    .describe('Within that bonus, weight of staying near earlier entropies of the same turn (EPO)'),
  klCoefficient: z.number().min(0).default(0).describe('Weight of the KL to the warm start'),
  klEstimator: z
    .enum(['k1', ...klEstimators])
    .default('k3+')
    .describe('How it is estimated: k1 is taken from the rewards, the others are terms of the loss'),
  valueCoefficient: z.number().min(0).default(0.5).describe('Weight of the value loss, with a critic'),
  valueClip: z.number().min(0).default(0.2).describe('Clip of the value change; 0 is off'),
  valueWarmup: z.int().min(0).default(0).describe('Steps that train only the value head, with a critic'),
  aggregation: z
    .enum(['token-mean', 'sequence-mean-token-mean', 'sequence-mean-token-sum', 'sequence-sum-constant'])
    .default('token-mean')
    .describe('How token losses are averaged over the step'),
  constant: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'Sampled tokens that sequence-sum-constant divides each row by; 0 is the turn limit times the longest turn in tokens',
    ),
});

const replay = z
  .strictObject({
    size: count.default(1000).describe('Episodes that are kept, the latest ones'),
    updates: count.default(4).describe('Updates of a step'),
    batch: count.default(64).describe('Episodes of an update'),
  })
  .describe('Memory of off-policy recipes');

const critic = z
  .strictObject({
    updates: count.default(20).describe('Its updates in a step'),
    warmupSteps: z.int().min(0).default(5).describe('Steps in which it alone learns'),
    learningRate: z.number().positive().default(1e-3).describe('Its learning rate, which is constant'),
    discount: share.default(0.95).describe('Discount per turn'),
    targetRate: share.default(0.1).describe('Share of the way that its target network moves after an update'),
    strength: z
      .number()
      .min(0)
      .default(16)
      .describe('Weight of its values beside log-probabilities in acting'),
    candidates: count
      .default(2)
      .describe('Actions it chooses from, the recorded one among them, where the policy imitates the best'),
  })
  .describe('Value learning of off-policy recipes');

const optimizer = z.strictObject({
  learningRate: z.number().positive().default(5e-4).describe('Peak learning rate of reinforcement learning'),
  schedule: z.enum(['constant', 'linear', 'cosine']).default('linear').describe('Decay after the warm-up'),
  warmupSteps: z.int().min(0).default(5).describe('Steps of linear warm-up'),
  finalFraction: share.default(0.1).describe('Learning rate at the end, as a share of the peak'),
  beta1: share.default(0.9).describe('AdamW'),
  beta2: share.default(0.98).describe('AdamW'),
  weightDecay: z.number().min(0).default(0).describe('Decoupled weight decay, matrices only'),
  clipNorm: z.number().min(0).default(1).describe('Global-norm clip of the gradient; 0 is off'),
  minibatches: count.default(2).describe('Optimizer steps a batch is cut into'),
  epochs: count.default(1).describe('Passes over a batch'),
  tokenBudget: count.default(1024).describe('Padded tokens of the micro-batches computed at once'),
});

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

const context = z
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

const players = z
  .looseObject({})
  .describe(
    'Who may sit in a seat besides `learner`: NAME=past:STEPS (the learner as it was), RUN@STEP, script:expert or openai:URL#MODEL',
  );

const seats = z
  .looseObject({})
  .describe('Who plays which role: ROLE=NAME of players; the learner plays all others');

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
  branching: branching.prefault({}),
  credit: credit.prefault({}),
  objective: objective.prefault({}),
  data: z
    .string()
    .default('')
    .describe(
      'Recorded episodes: the name of a run that stored some, or a file of conversations (docs/data.md). Recipes that play imitate them first, others learn from nothing else; `demonstrations` are the scripted ones',
    ),
  replay: replay.prefault({}),
  critic: critic.prefault({}),
  optimizer: optimizer.prefault({}),
  evaluation: evaluation.prefault({}),
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
