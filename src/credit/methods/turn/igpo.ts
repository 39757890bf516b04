/** IGPO: a turn earns what it adds to the probability of the true answer. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { missingField } from '../../contract/needs.ts';
import { splitRewards } from '../../kit/returns.ts';
import {
  creditTurns,
  flatTurns,
  partitionByPlace,
  partitionTurns,
  sumToGo,
  turnStarts,
} from '../../kit/turns.ts';
import { both, compareWithin, type Partition } from '../../kit/within.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';

export const igpo: CreditMethod = defineCreditMethod(
  {
    name: 'igpo',
    title: 'IGPO',
    summary:
      'information gain of each turn and the outcome, compared within the group and summed from the turn on',
    formula: `r_k = log p_k - log p_{k-1} ("log-ratio") or p_k - p_{k-1} ("difference") for turns before the last; r_K = outcome
p_k = probability of the true answer after turn k
separate: z = (r - mean) / (std + ε), over all gains of the group and over its outcomes apart;   A_k = Σ_{j ≥ k} γ^(j-k) z_j
joint:    the same over gains and outcomes together
centred:  A_k = Σ_{j ≥ k} γ^(j-k) r_j, minus the mean over the group at the same turn`,
    source: '"Information Gain-based Policy Optimization", arXiv 2510.14967',
    deviations: [
      'The second version of the paper (`separate`, `log-ratio`) is the default; the first is `joint` with `gain=difference`, and the released code is nearest to `centred` with `gain=difference`.',
      'The released code subtracts means at the same token index, which misaligns turns of different lengths; `centred` subtracts them at the same turn.',
      'Returns run over turns, not tokens, so observations do not reset them.',
      'Probabilities are floored at 1e-12 before the logarithm. Neither version of the paper has ε; it keeps rounding in the probabilities from becoming ±1. An outcome or a gain without a counterpart gives 0.',
      'A penalty for broken formats belongs to the environment’s outcome.',
    ],
    level: 'turn',
    needs: ['turns[].answerProbability'],
    uses: ['turns[].informationGain', 'turns[].dense'],
    ownRewards: true,
    example: '--method igpo --set normalisation=joint --set gain=difference',
  },
  z.strictObject({
    normalisation: z
      .enum(['separate', 'joint', 'centred'])
      .default('separate')
      .describe('Gains and outcomes compared apart, together, or only their returns centred.'),
    gain: z
      .enum(['log-ratio', 'difference'])
      .default('log-ratio')
      .describe('Gain as a difference of log-probabilities or of probabilities.'),
    gamma: z.number().min(0).max(1).default(1).describe('Discount per turn.'),
    std: z
      .enum(['sample', 'population'])
      .default('sample')
      .describe('Standard deviation: "sample" divides by n - 1, "population" by n.'),
    epsilon: z.number().positive().default(1e-6).describe('Added to the standard deviation.'),
  }),
  ({ normalisation, gain, gamma, std, epsilon }) =>
    (trajectories, state) => {
      const starts = turnStarts(trajectories);
      const groups = partitionTurns(trajectories);
      const rewards = flatTurns(trajectories, (trajectory) => turnGains(trajectory, gain));
      const comparison = { spread: normalisation === 'centred' ? 'none' : std, epsilon } as const;
      if (normalisation === 'centred') {
        sumToGo(rewards, starts, gamma);
        const sameTurn = both(groups, partitionByPlace(trajectories));
        return { credits: creditTurns(trajectories, compareWithin(rewards, sameTurn, comparison)), state };
      }
      const parts = normalisation === 'joint' ? groups : both(groups, lastOrNot(starts, rewards.length));
      const scores = compareWithin(rewards, parts, comparison);
      sumToGo(scores, starts, gamma);
      return { credits: creditTurns(trajectories, scores), state };
    },
);

/** Information gain of each turn, and the outcome as the reward of the last. */
function turnGains(trajectory: CreditTrajectory, gain: 'log-ratio' | 'difference'): number[] {
  const { turns } = trajectory;
  const score = (k: number): number => {
    const probability = turns[k]!.answerProbability;
    if (probability === undefined) {
      throw missingField(
        'igpo',
        trajectory,
        'turns[].answerProbability',
        k,
        'Or give turns[].informationGain of every turn but the last',
      );
    }
    return gain === 'log-ratio' ? Math.log(Math.max(probability, 1e-12)) : probability;
  };
  return turns.map(({ informationGain }, k) => {
    if (k === turns.length - 1) return splitRewards(trajectory).outcome;
    if (informationGain !== undefined) return informationGain;
    const before = score(k);
    return score(k + 1) - before;
  });
}

/** Last turns in one part, all others in another. */
function lastOrNot(starts: Int32Array, total: number): Partition {
  const keys = new Int32Array(total);
  for (let index = 0; index + 1 < starts.length; index++) {
    if (starts[index + 1]! > starts[index]!) keys[starts[index + 1]! - 1] = 1;
  }
  return { keys, count: 2 };
}
