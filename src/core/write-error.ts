/** Errors of the file system, told as what they mean: a full disk is not a refused write. */

import { TurnwiseError } from './errors.ts';

/** The errno name of a failed system call, wherever it is in the chain of causes. */
export function errnoOf(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = (at as NodeJS.ErrnoException).code;
    if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) return code;
  }
  return undefined;
}

/**
 * The error to raise for a failed write: `disk-full` (no space, or over quota), `disk-failed` for any other refusal of the
 * system, or the error itself where no system call failed.
 *
 * @param kept what is still there and safe
 * @param next how to continue
 */
export function writeError(error: unknown, path: string, kept: string, next: string): unknown {
  const errno = errnoOf(error);
  if (errno === undefined || TurnwiseError.isInstance(error)) return error;
  const full = errno === 'ENOSPC' || errno === 'EDQUOT';
  return new TurnwiseError(full ? 'disk-full' : 'disk-failed', {
    what: full ? 'The disk is full' : 'The disk refused a write',
    seen: `${errno} while writing ${path}`,
    next: full ? `${kept}. Free some space, then ${next}.` : `${kept}. Once it can be written, ${next}.`,
    fields: { path, errno },
    cause: error,
  });
}
