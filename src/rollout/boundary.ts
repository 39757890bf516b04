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

const ORIGINS: readonly FailureOrigin[] = ['policy', 'environment', 'tool', 'grader', 'engine'];

/** Where steps of one episode may fail. Listens for Ctrl-C once, whatever the number of steps. */
export class Boundary {
  readonly #signal: AbortSignal;
  readonly #watch: Watch;
  /** Tells the step under way to stop. */
  #abort: (() => void) | undefined;
  readonly #onAbort = (): void => this.#abort?.();

  constructor(signal: AbortSignal, watch: Watch) {
    this.#signal = signal;
    this.#watch = watch;
    signal.addEventListener('abort', this.#onAbort);
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  /**
   * Run one step that may fail. A throw becomes `failed:<origin>`, a missed deadline `timeout`, Ctrl-C `cancelled`; the
   * work is told to stop through the signal it is given. An error whose `fields.origin` names an origin keeps that one.
   */
  async step<T>(
    origin: FailureOrigin,
    what: string,
    timeoutMs: number | undefined,
    work: (signal: AbortSignal) => Promise<T> | T,
  ): Promise<T> {
    if (this.#signal.aborted) throw cancelled(what);
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    try {
      const result = this.#watch(what, () => work(controller.signal));
      if (!(result instanceof Promise)) return result;
      const ended = new Promise<never>((_, reject) => {
        this.#abort = () => {
          controller.abort();
          reject(this.#signal.aborted ? cancelled(what) : late(what, timeoutMs!));
        };
        if (timeoutMs !== undefined) timer = setTimeout(this.#abort, timeoutMs);
      });
      return await Promise.race([result, ended]);
    } catch (error) {
      if (error instanceof EpisodeEnd) throw error;
      const known = TurnwiseError.isInstance(error) ? error : undefined;
      if (known && FATAL_CODES.has(known.code)) throw known;
      const named = ORIGINS.find((candidate) => candidate === known?.fields.origin);
      const message = error instanceof Error ? error.message : String(error);
      throw new EpisodeEnd(`failed:${named ?? origin}`, `${what}: ${message}`, error);
    } finally {
      clearTimeout(timer);
      this.#abort = undefined;
    }
  }
}

function cancelled(what: string): EpisodeEnd {
  return new EpisodeEnd('cancelled', `${what}: the run was asked to stop`);
}

function late(what: string, timeoutMs: number): EpisodeEnd {
  return new EpisodeEnd('timeout', `${what} took longer than ${timeoutMs} ms`);
}
