/** How long an answer from outside may take: of a model elsewhere, or of a script that asks for one. */

import { followSignals } from './followed-signal.ts';

/** Longest wait for one answer, in milliseconds. */
export const ANSWER_MS = 300_000;

/**
 * The work, which is handed a signal; rejects where it takes too long, and where `signal` is aborted, whether the work heeds it or
 * not.
 */
export async function withinDeadline<T>(
  work: (signal: AbortSignal) => T | PromiseLike<T>,
  { signal, ms = ANSWER_MS, late }: { readonly signal: AbortSignal; readonly ms?: number; late(): Error },
): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(late()), ms);
  const own = followSignals([signal, deadline.signal]);
  try {
    own.signal.throwIfAborted();
    return await new Promise<T>((resolve, reject) => {
      own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true });
      Promise.resolve(work(own.signal)).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    own.release();
  }
}
