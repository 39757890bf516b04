/** How objectives read a whole step: target by target, row by row, and no number that is not finite. */

import { TurnwiseError } from '../../core/errors.ts';
import type { StepView } from './objective.ts';

/** Indices of the targets of each row, in the order of their positions. */
export function targetsByRow({
  rows,
  row_N,
  position_N,
}: Pick<StepView, 'rows' | 'row_N' | 'position_N'>): readonly (readonly number[])[] {
  const targets = Array.from({ length: rows }, (): number[] => []);
  for (const [target, row] of row_N.entries()) targets[row]!.push(target);
  return targets.map((ofRow) => ofRow.sort((a, b) => position_N[a]! - position_N[b]! || a - b));
}

/** The number itself. @throws TurnwiseError `objective-input` where it is not finite. */
export function finiteInput(value: number, what: string): number {
  if (Number.isFinite(value)) return value;
  throw new TurnwiseError('objective-input', {
    what: `An objective met a number that is not finite: ${what}`,
    seen: String(value),
    next: 'Look at the rows of this step; nothing was trained on them',
  });
}
