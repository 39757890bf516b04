/** Guards on the numbers that objectives read of a whole step. */

import { TurnwiseError } from '../../core/errors.ts';

/** The number itself. @throws TurnwiseError `objective-input` where it is not finite. */
export function finiteInput(value: number, what: string): number {
  if (Number.isFinite(value)) return value;
  throw new TurnwiseError('objective-input', {
    what: `An objective met a number that is not finite: ${what}`,
    seen: String(value),
    next: 'Look at the rows of this step; nothing was trained on them',
  });
}
