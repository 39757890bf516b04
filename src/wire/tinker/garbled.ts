/** The one error for bytes or JSON that are not what the Tinker API says they are. */

import { TurnwiseError } from '../../core/errors.ts';

export function garbled(what: string, seen: string, cause?: unknown): TurnwiseError {
  return new TurnwiseError('tinker-garbled', {
    what: `A message of the Tinker API cannot be read: ${what}`,
    seen: seen.length > 200 ? `${seen.slice(0, 200)}…` : seen,
    next: 'Check that both sides speak the same version of the API',
    ...(cause === undefined ? {} : { cause }),
  });
}
