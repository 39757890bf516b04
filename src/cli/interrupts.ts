/** Ctrl-C: the first one stops a command cleanly, the last one always works. */

import { TurnwiseError } from '../core/errors.ts';

/** Whoever asks a run to terminate sees it gone within two seconds; its last checkpoint is all that it needs. */
export const TERMINATION_GRACE_MS = 500;

/** How long a command may take to tidy up once everything must be dropped: with the grace before, two seconds. */
const TIDYING_MS = 800;

export interface Interrupts {
  /** Aborted when everything must be dropped at once. */
  readonly signal: AbortSignal;
  /**
   * Ask for time to finish what is under way: the first interruption then only calls `tell`, and the next one aborts.
   *
   * @param graceMs how long a request to terminate is satisfied with that: then it aborts by itself
   * @returns whether an interruption has been asked for
   */
  soften(tell: () => void, graceMs: number): () => boolean;
  /**
   * From now on an interruption ends the process at once, also while code that never gives way keeps it busy. For work that
   * leaves nothing half done and nothing running.
   */
  release(): void;
}

/**
 * Interruptions of this process, by Ctrl-C or by a request to terminate, whose sender kills what does not go soon. One after
 * the abort ends the process.
 */
export function processInterrupts(): Interrupts {
  const controller = new AbortController();
  let tell: (() => void) | undefined;
  let graceMs = 0;
  let requested = false;
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    if (tell !== undefined && !requested) tell();
    else controller.abort();
    requested = true;
  };
  const terminate = (): void => {
    interrupt();
    setTimeout(() => controller.abort(), graceMs).unref();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', terminate);
  return {
    signal: controller.signal,
    soften(callback, milliseconds) {
      tell = callback;
      graceMs = milliseconds;
      return () => requested;
    },
    release() {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', terminate);
    },
  };
}

/**
 * The work of a command, which ends soon after the signal whatever it is doing: where a phase does not hear it (weights that are
 * read, a call of the engine), it is left behind. Files are written under other names first, so nothing is left half done.
 */
export async function endingSoon(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tidy = (): void => {
      timer = setTimeout(() => reject(new TurnwiseError('interrupted', { what: 'Interrupted' })), TIDYING_MS);
    };
    if (signal.aborted) tidy();
    else signal.addEventListener('abort', tidy, { once: true });
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
