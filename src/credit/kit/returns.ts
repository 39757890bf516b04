/** The outcome of a trajectory, and what its turns earned on the way, apart. */

import { TurnwiseError } from '../../core/errors.ts';
import type { CreditTrajectory } from '../report/rollouts.ts';
import { turnRewards } from './columns.ts';

export interface SplitRewards {
  /** Reward of the whole trajectory, apart from what its turns earned on the way. */
  readonly outcome: number;
  /** What each turn earned on the way. */
  readonly intermediate_K: readonly number[];
}

/**
 * The outcome and the intermediate rewards apart. Where turns have `dense` rewards, these are the intermediate ones and
 * `outcome` is the rest. Otherwise the last turn's reward is the outcome and the rewards before it are intermediate.
 *
 * Refuses turn rewards without `dense` that do not sum to the outcome: nobody could say whether they are part of it.
 */
export function splitRewards(trajectory: CreditTrajectory): SplitRewards {
  const { id, outcome, turns } = trajectory;
  if (turns.some(({ dense }) => dense !== undefined)) {
    return {
      outcome,
      intermediate_K: turns.map(({ dense = [] }) => dense.reduce((sum, one) => sum + one, 0)),
    };
  }
  const rewards_K = turnRewards(trajectory);
  const sum = rewards_K.reduce((total, reward) => total + reward, 0);
  if (rewards_K.length > 0 && Math.abs(outcome - sum) > 1e-6 * (1 + Math.abs(outcome))) {
    throw new TurnwiseError('credit-outcome-unclear', {
      what: `The outcome of trajectory "${id}" is not the sum of its turn rewards, so it is not clear what its turns earned on the way`,
      seen: `outcome ${outcome}, turn rewards ${rewards_K.join(', ')}`,
      next: 'Give intermediate rewards that are not part of the outcome as turns[].dense, or leave the outcome out',
      fields: { trajectory: id },
    });
  }
  return {
    outcome: rewards_K.at(-1) ?? outcome,
    intermediate_K: [...rewards_K.slice(0, -1), 0].slice(0, rewards_K.length),
  };
}
