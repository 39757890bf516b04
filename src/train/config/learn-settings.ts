/** Settings of learning: imitation, credit, losses, off-policy memory and the optimizer. */

import { z } from 'zod';
import { criticLosses } from '../../objective/critic/critic-loss.ts';
import { policyLosses } from '../../objective/objectives.ts';
import { klEstimators } from '../../objective/regularizer/kl.ts';
import { count, share } from './numbers.ts';

export const clone = z.strictObject({
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

export const credit = z
  .looseObject({
    method: z
      .string()
      .default('rloo')
      .describe('How rewards become advantages: a method of `turnwise credit --help`, or a file'),
    rewardScale: z.number().positive().default(1).describe('Factor on every reward before credit'),
    shape: z
      .looseObject({})
      .prefault({})
      .describe(
        'Reward shapings before the method: NAME.OPTION=VALUE, NAME={} for its defaults, or NAME=false for none',
      ),
  })
  .describe('Further keys are the options of the method');

export const objective = z.strictObject({
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
  smoothing: z
    .strictObject({
      size: z.number().min(0).default(0.1).describe('Factor on the distance from the range'),
      low: z
        .number()
        .min(0)
        .default(0.8)
        .describe('Lower end of the range, as a share of the earlier entropy'),
      high: z
        .number()
        .min(0)
        .default(1.2)
        .describe('Upper end of the range, as a share of the earlier entropy'),
      penalty: z
        .enum(['hinge', 'constant'])
        .default('hinge')
        .describe('The distance, or a constant outside the range, which has no gradient'),
      fades: z
        .boolean()
        .default(true)
        .describe('Whether its weight falls over the run, from 1 to 0.04, as in the authors’ code'),
    })
    .prefault({})
    .describe('The range in which entropies are to stay, with entropySmoothing above 0'),
  klCoefficient: z.number().min(0).default(0).describe('Weight of the KL to the warm start'),
  klEstimator: z
    .enum(['k1', ...klEstimators])
    .default('k3+')
    .describe('How it is estimated: k1 is taken from the rewards, the others are terms of the loss'),
  valueCoefficient: z.number().min(0).default(0.5).describe('Weight of the value loss, with a critic'),
  valueClip: z
    .number()
    .min(0)
    .default(0.2)
    .describe('Clip of the value change, with valueLoss=squared; 0 is off'),
  valueLoss: z
    .enum(criticLosses)
    .default('squared')
    .describe('How a critic learns: by the squared error, or by classifying returns into bins'),
  valueBins: z
    .strictObject({
      count: z.int().min(2).max(1024).default(51).describe('Number of bins'),
      low: z.number().default(-1.1).describe('Lower end of the range'),
      high: z.number().default(1.1).describe('Upper end of the range'),
    })
    .refine(({ low, high }) => low < high, { error: 'low must be below high' })
    .prefault({})
    .describe('Bins of a critic that classifies; leave some room around the returns, after rewardScale'),
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

export const replay = z
  .strictObject({
    size: count.default(1000).describe('Episodes that are kept, the latest ones'),
    updates: z.int().min(0).default(4).describe('Updates of a step; 0 only collects episodes'),
    batch: count.default(64).describe('Episodes of an update'),
  })
  .describe('Memory of off-policy recipes');

export const critic = z
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

export const optimizer = z.strictObject({
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
