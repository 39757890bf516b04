/** The one place where failures inside an episode are given an origin and a deadline. Authors throw plain errors. */

import { TurnwiseError } from '../core/errors.ts';
import type { FailureOrigin, StopReason } from '../core/stop.ts';
import type { Watch } from './watchdog.ts';

/** An episode cannot go on; carries the stop reason it ends with. */
export class EpisodeEnd extends Error {
  readonly stop: StopReason;

  constructor(stop: StopReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.stop = stop;
  }
}

/** Engines and configuration mistakes end the run, not the episode: carrying on could only repeat them. */
const FATAL_CODES = new Set(['engine-failed', 'non-finite-logits', 'no-script', 'cancelled']);

/**
 * Run one step that may fail. A throw becomes `failed:<origin>`, a missed deadline `timeout`, an abort `cancelled`;
 * the work is told to stop through the signal it is given.
 */
export async function boundary<T>(
  origin: FailureOrigin,
  what: string,
  options: { readonly signal: AbortSignal; readonly watch: Watch; readonly timeoutMs?: number },
  work: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  if (options.signal.aborted) throw new EpisodeEnd('cancelled', `${what}: the run was asked to stop`);
  const controller = new AbortController();
  const onAbort = (): void => controller.abort();
  let timer: NodeJS.Timeout | undefined;
  try {
    const result = options.watch(what, () => work(controller.signal));
    if (!(result instanceof Promise)) return result;
    const ended = new Promise<never>((_, reject) => {
      options.signal.addEventListener('abort', onAbort, { once: true });
      controller.signal.addEventListener('abort', () => {
        reject(
          options.signal.aborted
            ? new EpisodeEnd('cancelled', `${what}: the run was asked to stop`)
            : new EpisodeEnd('timeout', `${what} took longer than ${options.timeoutMs} ms`),
        );
      });
      if (options.timeoutMs !== undefined) timer = setTimeout(onAbort, options.timeoutMs);
    });
    return await Promise.race([result, ended]);
  } catch (error) {
    if (error instanceof EpisodeEnd) throw error;
    if (TurnwiseError.isInstance(error) && FATAL_CODES.has(error.code)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new EpisodeEnd(`failed:${origin}`, `${what}: ${message}`, error);
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onAbort);
  }
}
