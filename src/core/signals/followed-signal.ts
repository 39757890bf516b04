/** One signal that follows several. */

/** A signal, and how to stop following. */
export interface FollowedSignal {
  readonly signal: AbortSignal;
  /** The signal is not aborted any more by those that it followed. */
  release(): void;
}

/**
 * A signal that is aborted with the first of several, until it is released. `AbortSignal.any` needs no release, but leaves a
 * reference in each of them, which stays for as long as they do: a run's signal lives as long as the run.
 */
export function followSignals(signals: readonly AbortSignal[]): FollowedSignal {
  const controller = new AbortController();
  const follow = (): void => {
    const first = signals.find(({ aborted }) => aborted);
    if (first) controller.abort(first.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', follow);
  follow();
  return {
    signal: controller.signal,
    release: () => {
      for (const signal of signals) signal.removeEventListener('abort', follow);
    },
  };
}
