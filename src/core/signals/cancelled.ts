/** Work that nobody waits for any more. */

import { TurnwiseError } from '../errors.ts';

/** @throws TurnwiseError `cancelled` where the run was asked to stop */
export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new TurnwiseError('cancelled', { what: 'The run was asked to stop' });
}
