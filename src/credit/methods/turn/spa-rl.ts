/** SPA-RL: the outcome is divided among the turns that made progress towards it. */

import { z } from 'zod';
import { type CreditMethod, type Description, defineCreditMethod } from '../../contract/method.ts';
import { compareOutcomes } from '../../kit/groups.ts';
import {
  creditTurns,
  eachTurn,
  spreadOverTurns,
  sumToGo,
  turnStarts,
  whitenTurns,
  withShaped,
} from '../../kit/turns.ts';
import type { CreditState, CreditTrajectory } from '../../report/rollouts.ts';
import { withOnlyRewards } from '../../shaping/rewards.ts';
import { defineShaping, type RewardShaping } from '../../shaping/shaping.ts';
import { attributeProgress, type EstimatorState } from './progress-estimator.ts';

const description: Description = {
  name: 'spa-rl',
  aliases: ['spa'],
  title: 'SPA-RL (stepwise progress attribution)',
  summary: 'rewards from an estimator that divides the outcome among turns; returns from each turn on',
  formula: `r_k = α·c_k + β·g_k,   g_k = 1 where the environment accepted the action
c_k = progress of turn k: given, or from a regression with Σ_k c_k ≈ R
A_k = Σ_{j ≥ k} γ^(j-k) r_j, whitened over tokens`,
  source: '"SPA-RL: Reinforcing LLM Agents via Stepwise Progress Attribution", arXiv 2505.20732',
  deviations: [
    'The estimator is a linear regression on features of the turn, in place of a language model; `turns[].progress` takes the contributions of such a model.',
    'The released script replaces contributions by the outcome minus the mean of the group’s other outcomes, the same for every turn: `contribution=leave-one-out`.',
    'The paper trains with token-level PPO; this method has no critic. With one: `--method gae --shape spa-rl`.',
    'The outcome is not added again. Contributions are not clipped: progress may be negative.',
  ],
  wholeSteps: true,
  needs: ['turns[].progress'],
  uses: ['turns[].features', 'turns[].anchor', 'turns[].valid'],
  ownRewards: true,
  example: '--method spa-rl --set gamma=0 --set whiten=false',
};

const fields = {
  alpha: z.number().default(1).describe('Weight of progress.'),
  beta: z.number().default(0.5).describe('Reward of an action that the environment accepted.'),
  contribution: z
    .enum(['estimated', 'leave-one-out'])
    .default('estimated')
    .describe('The source of progress: the estimator, or the outcome minus the mean of the others.'),
  ridge: z.number().positive().default(1).describe('The estimator’s preference for small weights.'),
  decay: z.number().min(0).max(1).default(0.95).describe('Share of earlier steps the estimator remembers.'),
  buckets: z
    .number()
    .int()
    .min(1)
    .max(1024)
    .default(63)
    .describe('The number of buckets for pairs of states, for turns without features.'),
};

export const progressAttribution: RewardShaping = defineShaping(
  {
    ...description,
    summary: 'rewards from an estimator that divides the outcome among turns',
    example: '--method gae --shape spa-rl',
  },
  z.strictObject(fields),
  (options) => (trajectories, state) => {
    const { rewards, state: after } = progressRewards(trajectories, options, state);
    const starts = turnStarts(trajectories);
    const shaped = trajectories.map((trajectory, index) =>
      withOnlyRewards(trajectory, Array.from(rewards.subarray(starts[index]!, starts[index + 1]!))),
    );
    return { trajectories: shaped, state: after };
  },
);

interface ProgressOptions {
  readonly alpha: number;
  readonly beta: number;
  readonly contribution: 'estimated' | 'leave-one-out';
  readonly ridge: number;
  readonly decay: number;
  readonly buckets: number;
}

/** The reward of each turn of the batch. */
function progressRewards(
  trajectories: readonly CreditTrajectory[],
  options: ProgressOptions,
  before: CreditState,
): { readonly rewards: Float64Array; readonly state: CreditState } {
  const { alpha, beta } = options;
  const { contributions, state } =
    options.contribution === 'leave-one-out'
      ? { contributions: leaveOneOut(trajectories), state: before }
      : estimated(trajectories, options, before);
  let turn = 0;
  const rewards = eachTurn(
    trajectories,
    ({ valid = true }) => alpha * contributions[turn++]! + (valid ? beta : 0),
  );
  return { rewards, state };
}

/** Contributions as they were given, or from the estimator where one is missing. */
function estimated(
  trajectories: readonly CreditTrajectory[],
  options: ProgressOptions,
  state: CreditState,
): { readonly contributions: Float64Array; readonly state: CreditState } {
  const given = ({ turns }: CreditTrajectory): boolean =>
    turns.every(({ progress }) => progress !== undefined);
  if (trajectories.every(given)) {
    return { contributions: eachTurn(trajectories, ({ progress }) => progress!), state };
  }
  const before = state['spa-rl'] as EstimatorState | undefined;
  const { contributions, state: after } = attributeProgress(trajectories, options, before);
  return { contributions, state: { ...state, 'spa-rl': after } };
}

function leaveOneOut(trajectories: readonly CreditTrajectory[]): Float64Array {
  const advantages = compareOutcomes(trajectories, (outcomes_G) => {
    const sum = outcomes_G.reduce((total, outcome) => total + outcome, 0);
    return outcomes_G.map((outcome) => outcome - (sum - outcome) / (outcomes_G.length - 1));
  });
  return spreadOverTurns(trajectories, advantages);
}

export const spaRl: CreditMethod = defineCreditMethod(
  { ...description, level: 'turn' },
  z.strictObject({
    ...fields,
    gamma: z.number().min(0).max(1).default(1).describe('Discount per turn.'),
    whiten: z
      .boolean()
      .default(true)
      .describe('Whether to bring the advantages of the batch to mean 0 and variance 1, over tokens.'),
  }),
  ({ gamma, whiten, ...options }) =>
    (trajectories, state) => {
      const { rewards, state: after } = progressRewards(trajectories, options, state);
      const returns = rewards.slice();
      sumToGo(returns, turnStarts(trajectories), gamma);
      if (whiten) whitenTurns(trajectories, returns);
      return { credits: withShaped(creditTurns(trajectories, returns), trajectories, rewards), state: after };
    },
);
