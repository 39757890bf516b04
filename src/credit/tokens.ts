/** Sampled tokens of a trajectory as one flat list, for token-level methods. Observation tokens do not exist here. */

import { maskedWhiten, mean } from '../core/statistics.ts';
import { turnRewards } from './returns.ts';
import type { CreditTrajectory, TrajectoryCredit } from './rollouts.ts';
import { splitByLengths } from './split.ts';

/**
 * One reward per sampled token: a turn's reward lies on its last sampled token. The reward of a turn without sampled
 * tokens goes to the last sampled token before it; before the first there is nobody to credit.
 */
export function tokenRewards(trajectory: CreditTrajectory): number[] {
  const rewards_K = turnRewards(trajectory);
  const rewards_T: number[] = [];
  for (const [k, turn] of trajectory.turns.entries()) {
    for (let t = 0; t < turn.tokens; t++) rewards_T.push(0);
    if (rewards_T.length > 0) rewards_T[rewards_T.length - 1]! += rewards_K[k]!;
  }
  return rewards_T;
}

/** Whitens over all tokens of the batch, so long trajectories weigh more. A batch of one token gives 0. */
export function whitenTokens(tokens_B_T: readonly (readonly number[])[]): number[][] {
  const flat = tokens_B_T.flat();
  const whitened = flat.length < 2 ? flat.map(() => 0) : maskedWhiten(flat);
  return splitByLengths(
    whitened,
    tokens_B_T.map((tokens_T) => tokens_T.length),
  );
}

/** Token advantages (and targets of the value function) cut into turns. */
export function creditTokens(
  trajectory: CreditTrajectory,
  advantages_T: readonly number[],
  returns_T?: readonly number[],
): TrajectoryCredit {
  const tokens_K = trajectory.turns.map((turn) => turn.tokens);
  const tokenAdvantages_K_T = splitByLengths(advantages_T, tokens_K);
  return {
    id: trajectory.id,
    turnAdvantages_K: tokenAdvantages_K_T.map((tokens_T) => (tokens_T.length === 0 ? 0 : mean(tokens_T))),
    tokenAdvantages_K_T,
    ...(returns_T && { returns_K_T: splitByLengths(returns_T, tokens_K) }),
  };
}
