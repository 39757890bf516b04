/** Ctrl-C: the first one stops a command cleanly, the last one always works. */

export interface Interrupts {
  /** Aborted when everything must be dropped at once. */
  readonly signal: AbortSignal;
  /**
   * Ask for time to finish what is under way: the first interruption then only calls `tell`, and the next one aborts.
   *
   * @returns whether an interruption has been asked for
   */
  soften(tell: () => void): () => boolean;
}

/** Interruptions of this process, by Ctrl-C or by a request to terminate. One after the abort ends the process. */
export function processInterrupts(): Interrupts {
  const controller = new AbortController();
  let tell: (() => void) | undefined;
  let requested = false;
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    if (tell !== undefined && !requested) tell();
    else controller.abort();
    requested = true;
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return {
    signal: controller.signal,
    soften(callback) {
      tell = callback;
      return () => requested;
    },
  };
}
