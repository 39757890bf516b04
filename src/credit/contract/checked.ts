/** The guard around every credit method: bad numbers stop at the trajectory they come from. */

import { badDefinition, callDefinition } from '../../core/definition.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { findNonJson } from '../../core/json/json.ts';
import { withColumns } from '../kit/columns.ts';
import type { Credit, CreditTrajectory, CreditTurn, TrajectoryCredit } from '../report/rollouts.ts';

/** The same method, refusing input that is not finite, token counts that are not counts, and results that do not fit the input. */
export function checked(credit: Credit, subject: string): Credit {
  return (trajectories, state) => {
    const result = withColumns(trajectories, checkTrajectory, () =>
      callDefinition(subject, () => credit(trajectories, state)),
    );
    checkState(subject, result?.state);
    checkCount(subject, 'credits', result.credits, trajectories.length);
    for (let index = 0; index < trajectories.length; index++) {
      checkShape(subject, result.credits[index]!, trajectories[index]!);
      checkCredit(subject, result.credits[index]!);
    }
    return result;
  };
}

/** What a method or a shaping remembers goes into checkpoints. */
export function checkState(subject: string, state: unknown): void {
  if (typeof state !== 'object' || state === null || Array.isArray(state))
    throw badDefinition(
      subject,
      'did not return its state',
      state,
      'the state that it was given, or another JSON object',
    );
  const strange = findNonJson(state);
  if (strange === undefined) return;
  throw badDefinition(subject, `has a state that is not JSON, at ${strange}`, state, 'plain JSON');
}

/** Whether it returned a list with an element for each of what it was given. */
export function checkCount(subject: string, name: string, list: unknown, count: number): void {
  if (Array.isArray(list) && list.length === count) return;
  throw badDefinition(
    subject,
    `must return ${name} as an array of ${count}, one for each trajectory`,
    list,
    `${count} in the order of the trajectories`,
  );
}

const CREDIT_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'turnAdvantages_K',
  'tokenAdvantages_T',
  'returns_T',
  'targets_T',
  'shaped',
] satisfies readonly (keyof TrajectoryCredit)[]);

function checkShape(subject: string, credit: TrajectoryCredit, { id, turns }: CreditTrajectory): void {
  if (credit?.id !== id) {
    throw badDefinition(
      subject,
      `must return the credit of trajectory "${id}" in its place`,
      credit?.id,
      `id "${id}"`,
    );
  }
  for (const field of Object.keys(credit)) {
    if (CREDIT_FIELDS.has(field)) continue;
    throw badDefinition(
      subject,
      `returned a field that credit does not have`,
      field,
      [...CREDIT_FIELDS].join(', '),
    );
  }
  const { turnAdvantages_K, tokenAdvantages_T, returns_T, targets_T, shaped } = credit;
  const check = (name: string, list: { readonly length: number } | undefined, length: number): void => {
    if (list?.length === length) return;
    throw badDefinition(
      subject,
      `must return ${length} ${name} for trajectory "${id}"`,
      list,
      `${length} numbers`,
    );
  };
  check('turnAdvantages_K', turnAdvantages_K, turns.length);
  if (shaped) check('shaped.rewards_K', shaped.rewards_K, turns.length);
  if (!tokenAdvantages_T && !returns_T && !targets_T) return;
  let tokens = 0;
  for (let k = 0; k < turns.length; k++) tokens += turns[k]!.tokens;
  if (tokenAdvantages_T) check('tokenAdvantages_T', tokenAdvantages_T, tokens);
  if (returns_T) check('returns_T', returns_T, tokens);
  if (targets_T) check('targets_T', targets_T, tokens);
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
  checkNumber(id, k, 'attempt', turn.attempt);
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
  checkList(id, k, 'teacherGaps', turn.teacherGaps);
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

function checkCredit(subject: string, credit: TrajectoryCredit): void {
  const { turnAdvantages_K, tokenAdvantages_T, returns_T, shaped } = credit;
  const check = (what: string, list: readonly number[] | Float64Array | undefined): void => {
    const index = list?.findIndex(isNotFinite) ?? -1;
    if (index >= 0) throw notFinite(credit.id, what, list![index]!, `${subject} gave`);
  };
  check('an advantage', turnAdvantages_K);
  check('a token advantage', tokenAdvantages_T);
  check('a return', returns_T);
  check('a shaped reward', shaped?.rewards_K);
  check('the shaped outcome', shaped && [shaped.outcome]);
}

const isNotFinite = (value: number): boolean => !Number.isFinite(value);

function notFinite(id: string, what: string, value: number, who = 'Credit met'): TurnwiseError {
  return new TurnwiseError('credit-not-finite', {
    what: `${who} a number that is not finite: ${what} of trajectory "${id}"`,
    seen: String(value),
    next: 'Look at the rewards and values of that trajectory; nothing was trained on it',
    fields: { trajectory: id },
  });
}
