/** Turn-level GAE: a whole turn is one action, with one value before it. */

import { z } from 'zod';
import { estimateAdvantages } from './gae.ts';
import { type CreditMethod, creditMethod } from './method.ts';
import { missingField } from './needs.ts';
import { turnRewards } from './returns.ts';
import type { CreditTrajectory, TrajectoryCredit } from './rollouts.ts';
import { creditTurns, flatTurns, whitenTurns } from './turns.ts';

export const turnGae: CreditMethod = creditMethod(
  {
    name: 'turn-gae',
    aliases: ['turn-ppo'],
    title: 'Turn-level GAE (Turn-PPO)',
    summary: 'advantages of whole turns from values before each turn',
    formula: `δ_k = r_k + γ·V_{k+1} - V_k,   A_k = δ_k + γλ·A_{k+1},   return_k = A_k + V_k
V_k is the value of the state before turn k; every token of the turn gets A_k, whitened over tokens`,
    source: '"Turn-PPO", arXiv 2512.17008',
    deviations: [
      'V_k is `turns[].value`, else the first of `turns[].values`: the value before the first sampled token.',
      'The critic learns at the first token of each turn only: the other tokens have their own value as target, which gives them no gradient.',
      'A turn that a script played has no value: its reward goes to the sampled turn before it, and its advantage is 0.',
      'Episodes cut short are treated as ended.',
    ],
    level: 'turn',
    critic: true,
    needs: ['turns[].value'],
    uses: ['turns[].values'],
    example: '--method turn-gae --set gamma=1 --set whiten=false',
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(0.99).describe('Discount per turn.'),
    lambda: z.number().min(0).max(1).default(0.9).describe('Trust in rewards over values, per turn.'),
    whiten: z
      .boolean()
      .default(true)
      .describe('Whether to bring the advantages of the batch to mean 0 and variance 1, over tokens.'),
  }),
  ({ gamma, lambda, whiten }) =>
    (trajectories, state) => {
      const values = trajectories.map(turnValues);
      const estimate = turnEstimator(values, gamma, lambda);
      const raw = trajectories.map((trajectory, index) => estimate(turnRewards(trajectory), values[index]!));
      const flat = flatTurns(trajectories, (_, index) => raw[index]!);
      const credits = creditTurns(trajectories, whiten ? whitenTurns(trajectories, flat) : flat);
      return {
        credits: credits.map((credit, index) => withReturns(credit, trajectories[index]!, raw[index]!)),
        state,
      };
    },
);

/** The value before each turn; undefined for turns without sampled tokens that have none. */
function turnValues(trajectory: CreditTrajectory): (number | undefined)[] {
  return trajectory.turns.map(({ value, values, tokens }, k) => {
    const found = value ?? values?.[0];
    if (found === undefined && tokens > 0) {
      throw missingField(
        'turn-gae',
        trajectory,
        'turns[].value',
        k,
        'Or give turns[].values, the first of which is it',
      );
    }
    return found;
  });
}

/** Advantages of the turns of a trajectory, which is never longer than those whose values these are. */
function turnEstimator(
  values: readonly (readonly (number | undefined)[])[],
  gamma: number,
  lambda: number,
): (rewards_K: readonly number[], values_K: readonly (number | undefined)[]) => number[] {
  const longest = values.reduce((most, { length }) => Math.max(most, length), 0);
  const sampled = {
    rewards: new Float64Array(longest),
    values: new Float64Array(longest),
    advantages: new Float64Array(longest),
  };
  return (rewards_K, values_K) => {
    let count = 0;
    for (let k = 0; k < values_K.length; k++) {
      const value = values_K[k];
      if (value !== undefined) {
        sampled.rewards[count] = rewards_K[k]!;
        sampled.values[count++] = value;
      } else if (count > 0) sampled.rewards[count - 1]! += rewards_K[k]!;
    }
    estimateAdvantages(sampled.rewards, sampled.values, sampled.advantages, 0, count, gamma, lambda);
    let next = 0;
    return values_K.map((value) => (value === undefined ? 0 : sampled.advantages[next++]!));
  };
}

/** Targets of the critic, where every sampled token has a value. */
function withReturns(
  credit: TrajectoryCredit,
  { turns }: CreditTrajectory,
  raw_K: readonly number[],
): TrajectoryCredit {
  if (!turns.every(({ values = [], tokens }) => values.length === tokens)) return credit;
  return {
    ...credit,
    returns_K_T: turns.map(({ value, values = [] }, k) => {
      if (values.length === 0) return [];
      const target = raw_K[k]! + (value ?? values[0]!);
      return values.length === 1 ? [target] : [target, ...values.slice(1)];
    }),
  };
}
