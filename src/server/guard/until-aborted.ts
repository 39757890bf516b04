/** Waits that end with a signal, whatever becomes of what is waited for. */

/** @param reason what to throw then; default: the reason of the signal */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  reason: (signal: AbortSignal) => unknown = () => signal.reason,
): Promise<T> {
  if (signal.aborted) {
    // Nobody waits for it any more.
    work.catch(() => {});
    throw reason(signal);
  }
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(reason(signal));
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
