/** What each arm is told besides the outcome: an arm that knows more than its rivals wins by what it knows. */

import type { CreditField } from '../credit/report/fields.ts';
import type { PreparedRun } from '../run/prepare-run.ts';

export const ledgerColumns = [
  'dense reward',
  'truth',
  'expert actions',
  'state copy',
  'teacher',
  'demonstrations',
  'probes',
] as const;

export type LedgerColumn = (typeof ledgerColumns)[number];

/** Facts of the environment, by what they tell. */
const told: Readonly<Partial<Record<CreditField, LedgerColumn>>> = {
  'turns[].dense': 'dense reward',
  'turns[].informationGain': 'truth',
  'turns[].answerProbability': 'truth',
  goldenCalls: 'expert actions',
  neededCalls: 'expert actions',
  'turns[].counterfactual': 'state copy',
  entityShare: 'probes',
  'turns[].features': 'probes',
  'turns[].labelCorrect': 'probes',
};

/** What an arm reads, by its recipe, its credit method, its shapings and its data; and by its settings, where a claim says so. */
export function ledgerOf(
  { recipe, config, catalogue }: PreparedRun,
  declared: readonly LedgerColumn[] = [],
): readonly LedgerColumn[] {
  const { method, shape } = config.credit;
  const fields = [
    ...catalogue.credit.find(method).needs,
    ...Object.keys(shape).flatMap((name) => catalogue.shapings.find(name).needs),
    ...(recipe.needs?.facts ?? []),
    ...(recipe.turnFacts?.fields ?? []),
  ];
  const reads = new Set<LedgerColumn>([
    ...declared,
    ...fields.flatMap((field) => told[field] ?? []),
    ...(recipe.act === undefined ? [] : (['state copy'] as const)),
    ...(recipe.needs?.script ? (['expert actions'] as const) : []),
    ...(recipe.needs?.corrector || config.teacher !== '' || config.rewardModel.folder !== ''
      ? (['teacher'] as const)
      : []),
    ...(config.data === '' ? [] : (['demonstrations'] as const)),
  ]);
  return ledgerColumns.filter((column) => reads.has(column));
}
