/** Ctrl-C: the first one stops a command cleanly, the last one always works. */

/** Whoever asks a run to terminate sees it gone within two seconds; its last checkpoint is all that it needs. */
export const TERMINATION_GRACE_MS = 500;

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
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', () => {
    interrupt();
    setTimeout(() => controller.abort(), graceMs).unref();
  });
  return {
    signal: controller.signal,
    soften(callback, milliseconds) {
      tell = callback;
      graceMs = milliseconds;
      return () => requested;
    },
  };
}
