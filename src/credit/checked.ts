/** The guard around every credit method: bad numbers stop at the trajectory they come from. */

import { TurnwiseError } from '../core/errors.ts';
import { withColumns } from './columns.ts';
import type { Credit, CreditTrajectory, CreditTurn, TrajectoryCredit } from './rollouts.ts';

/** The same method, refusing input or results that are not finite, and token counts that are not counts. */
export function checked(credit: Credit): Credit {
  return (trajectories, state) => {
    const result = withColumns(trajectories, checkTrajectory, () => credit(trajectories, state));
    for (const given of result.credits) checkCredit(given);
    return result;
  };
}

function checkTrajectory(trajectory: CreditTrajectory): void {
  const { id, turns } = trajectory;
  const check = (name: string, value: number | undefined): void => {
    if (value !== undefined && !Number.isFinite(value)) throw notFinite(id, name, value);
  };
  check('outcome', trajectory.outcome);
  check('entityShare', trajectory.entityShare);
  check('neededCalls', trajectory.neededCalls);
  check('sharedTurns', trajectory.sharedTurns);
  check('replayedAdvantage', trajectory.replayedAdvantage);
  for (let k = 0; k < turns.length; k++) checkTurn(id, turns[k]!, k);
}

/** Field by field, not in a loop over names: it runs for every turn of a batch, and texts are made only for errors. */
function checkTurn(id: string, turn: CreditTurn, k: number): void {
  if (!Number.isFinite(turn.reward)) throw notFinite(id, `turns[${k}].reward`, turn.reward);
  if (!Number.isInteger(turn.tokens) || turn.tokens < 0) {
    throw new TurnwiseError('credit-token-count', {
      what: `turns[${k}].tokens of trajectory "${id}" must count sampled tokens`,
      seen: String(turn.tokens),
      allowed: 'a whole number, 0 or more',
      fields: { trajectory: id, turn: k },
    });
  }
  checkNumber(id, k, 'value', turn.value);
  checkNumber(id, k, 'answerProbability', turn.answerProbability);
  checkNumber(id, k, 'informationGain', turn.informationGain);
  checkNumber(id, k, 'progress', turn.progress);
  checkNumber(id, k, 'actionCount', turn.actionCount);
  checkNumber(id, k, 'effectiveActions', turn.effectiveActions);
  checkNumber(id, k, 'counterfactual', turn.counterfactual);
  checkList(id, k, 'values', turn.values);
  checkList(id, k, 'entropies', turn.entropies);
  checkList(id, k, 'dense', turn.dense);
  checkList(id, k, 'features', turn.features);
}

function checkNumber(id: string, k: number, name: string, value: number | undefined): void {
  if (value !== undefined && !Number.isFinite(value)) throw notFinite(id, `turns[${k}].${name}`, value);
}

function checkList(id: string, k: number, name: string, list: readonly number[] | undefined): void {
  if (list === undefined) return;
  // Zero times a finite number is zero, and times any other is not a number.
  let zero = 0;
  for (let t = 0; t < list.length; t++) zero += list[t]! * 0;
  if (zero === 0) return;
  const t = list.findIndex(isNotFinite);
  throw notFinite(id, `turns[${k}].${name}[${t}]`, list[t]!);
}

function checkCredit(credit: TrajectoryCredit): void {
  const { turnAdvantages_K, tokenAdvantages_T, returns_T, shaped } = credit;
  const check = (what: string, list: readonly number[] | Float64Array | undefined): void => {
    const index = list?.findIndex(isNotFinite) ?? -1;
    if (index >= 0) throw notFinite(credit.id, what, list![index]!);
  };
  check('an advantage', turnAdvantages_K);
  check('a token advantage', tokenAdvantages_T);
  check('a return', returns_T);
  check('a shaped reward', shaped?.rewards_K);
  check('the shaped outcome', shaped && [shaped.outcome]);
}

const isNotFinite = (value: number): boolean => !Number.isFinite(value);

function notFinite(id: string, what: string, value: number): TurnwiseError {
  return new TurnwiseError('credit-not-finite', {
    what: `Credit met a number that is not finite: ${what} of trajectory "${id}"`,
    seen: String(value),
    next: 'Look at the rewards and values of that trajectory; nothing was trained on it',
    fields: { trajectory: id },
  });
}
