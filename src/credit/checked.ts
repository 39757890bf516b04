/** The guard around every credit method: bad numbers stop at the trajectory they come from. */

import { TurnwiseError } from '../core/errors.ts';
import type { Credit, CreditTrajectory, TrajectoryCredit } from './rollouts.ts';

/** The same method, refusing input or results that are not finite, and token counts that are not counts. */
export function checked(credit: Credit): Credit {
  return (trajectories, state) => {
    for (const trajectory of trajectories) checkTrajectory(trajectory);
    const result = credit(trajectories, state);
    for (const given of result.credits) checkCredit(given);
    return result;
  };
}

function checkTrajectory({ id, outcome, turns }: CreditTrajectory): void {
  requireFinite(id, 'outcome', outcome);
  for (const [k, turn] of turns.entries()) {
    requireFinite(id, `turns[${k}].reward`, turn.reward);
    if (!Number.isInteger(turn.tokens) || turn.tokens < 0) {
      throw new TurnwiseError('credit-token-count', {
        what: `turns[${k}].tokens of trajectory "${id}" must count sampled tokens`,
        seen: String(turn.tokens),
        allowed: 'a whole number, 0 or more',
        fields: { trajectory: id, turn: k },
      });
    }
    for (const [t, value] of (turn.values ?? []).entries()) {
      requireFinite(id, `turns[${k}].values[${t}]`, value);
    }
  }
}

function checkCredit({
  id,
  turnAdvantages_K,
  tokenAdvantages_K_T = [],
  returns_K_T = [],
}: TrajectoryCredit): void {
  for (const advantage of turnAdvantages_K) requireFinite(id, 'an advantage', advantage);
  for (const value of tokenAdvantages_K_T.flat()) requireFinite(id, 'a token advantage', value);
  for (const value of returns_K_T.flat()) requireFinite(id, 'a return', value);
}

function requireFinite(id: string, what: string, value: number): void {
  if (Number.isFinite(value)) return;
  throw new TurnwiseError('credit-not-finite', {
    what: `Credit met a number that is not finite: ${what} of trajectory "${id}"`,
    seen: String(value),
    next: 'Look at the rewards and values of that trajectory; nothing was trained on it',
    fields: { trajectory: id },
  });
}
