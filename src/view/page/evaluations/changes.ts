/** What happened to test tasks between two evaluations. */

import type { EvaluatedRow, EvaluationGrid } from '../../shapes.ts';

export type Change = 'lost' | 'gained' | 'never' | 'always' | 'not compared';

/** What needs to be looked at first. */
export const changes: readonly Change[] = ['lost', 'gained', 'never', 'always', 'not compared'];

export type How = 'sampled' | 'greedy';

export interface ChangedTask extends EvaluatedRow {
  readonly change: Change;
  /** A character for each evaluation that is shown: 1 succeeded, 0 failed, - not played. */
  readonly outcomes: string;
}

/** @param before and `after`: `1`, `0` or `-` */
export function changeOf(before: string, after: string): Change {
  if (before === '-' || after === '-') return 'not compared';
  if (before === after) return after === '1' ? 'always' : 'never';
  return after === '1' ? 'gained' : 'lost';
}

/** The tasks with what happened to them from one evaluation to another, lost ones first. */
export function changedTasks(grid: EvaluationGrid, how: How, from: number, to: number): ChangedTask[] {
  const { rows, shown } = grid;
  const at = (step: number, row: number): string => shown.find((one) => one.step === step)?.[how][row] ?? '-';
  return rows
    .map((row, index) => ({
      ...row,
      change: changeOf(at(from, index), at(to, index)),
      outcomes: shown.map((one) => one[how][index] ?? '-').join(''),
    }))
    .sort((a, b) => changes.indexOf(a.change) - changes.indexOf(b.change));
}

/** How many tasks there are of each kind. */
export function countChanges(tasks: readonly ChangedTask[]): Record<Change, number> {
  const counts = { lost: 0, gained: 0, never: 0, always: 0, 'not compared': 0 };
  for (const { change } of tasks) counts[change]++;
  return counts;
}
