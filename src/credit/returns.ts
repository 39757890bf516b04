/** Rewards and returns of turns, as every turn-level method reads them. */

import type { CreditTrajectory } from './rollouts.ts';

/** One reward per turn. Where all are zero and the outcome is not, the outcome is the reward of the last turn. */
export function turnRewards(trajectory: CreditTrajectory): number[] {
  const rewards_K = trajectory.turns.map((turn) => turn.reward);
  if (rewards_K.length > 0 && rewards_K.every((reward): boolean => reward === 0)) {
    rewards_K[rewards_K.length - 1] = trajectory.outcome;
  }
  return rewards_K;
}

/** Returns-to-go: R_k = r_k + γ·R_{k+1}, with nothing after the last. */
export function discountedReturns(rewards_K: readonly number[], gamma: number): number[] {
  const returns_K = [...rewards_K];
  for (let k = returns_K.length - 2; k >= 0; k--) returns_K[k]! += gamma * returns_K[k + 1]!;
  return returns_K;
}
