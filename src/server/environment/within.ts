/** A deadline for what an environment does. */

import { TurnwiseError } from '../../core/errors.ts';

/**
 * The result of `work`, unless it takes longer than that or `ending` aborts first.
 *
 * @throws TurnwiseError `environment-timeout`; the reason of `ending`; what `work` raises
 */
export async function within<T>(
  timeoutMs: number,
  work: Promise<T>,
  what: string,
  ending?: AbortSignal,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new TurnwiseError('environment-timeout', {
          what: `The environment took too long for ${what}`,
          allowed: `${timeoutMs} ms`,
          next: 'The session is closed. Raise --deadline where steps are slow.',
        }),
      );
    }, timeoutMs);
    stop = () => reject(ending?.reason);
    ending?.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
    if (stop !== undefined) ending?.removeEventListener('abort', stop);
  }
}
