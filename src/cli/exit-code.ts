/** The exit codes of the command line: 0 for success, 1 for a failure, 2 for a wrong command line, 130 for an interruption. */

import { errorCodes } from '../core/error-codes/error-codes.ts';
import { TurnwiseError } from '../core/errors.ts';

export function exitCodeOf(error: unknown): 1 | 2 | 130 {
  if (TurnwiseError.isInstance(error)) return errorCodes[error.code]?.exit ?? 1;
  return error instanceof Error && error.name === 'AbortError' ? 130 : 1;
}
