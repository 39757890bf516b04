/** The one place where failures inside an episode are given an origin and a deadline. Authors throw plain errors. */

import { TurnwiseError } from '../core/errors.ts';
import { isThenable, thrownText, tried } from '../core/safe-text.ts';
import type { FailureOrigin, StopReason } from '../core/stop.ts';
import { inScope, type Scope, strayErrorsSeen, strayErrorsTold } from './guard/scope.ts';
import type { Watch } from './watch.ts';

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

/** Longest message of an error that says what is allowed, in characters. Others are cut at `TEXT_LIMIT`. */
const KNOWN_TEXT_LIMIT = 2000;

/** Longest wait for a session to close once the run was asked to stop. */
const HURRIED_MS = 1000;

/** Whether the code is ours: its errors that nobody awaited are no environment's. */
const isOurs = (origin: FailureOrigin): boolean => origin === 'policy' || origin === 'engine';

/** A step that has not ended. */
interface UnderWay {
  readonly origin: FailureOrigin;
  readonly what: string;
  /** Ends it. */
  readonly end: (because: EpisodeEnd) => void;
}

/** Where steps of one episode may fail. Listens for Ctrl-C once, whatever the number of steps. */
export class Boundary {
  readonly #signal: AbortSignal;
  readonly #watch: Watch;
  readonly #background: boolean;
  readonly #underWay: UnderWay[] = [];
  /**
   * Steps without a deadline end no sooner than the episode, and pure worlds do nothing behind our back: they share a signal,
   * since each takes time to make.
   */
  #shared: AbortController | undefined;
  /** Code that nobody awaited failed. */
  #stray: EpisodeEnd | undefined;
  #closed = false;
  readonly #onAbort = (): void => {
    for (const { end, what } of [...this.#underWay]) end(cancelled(what));
  };

  /** @param background whether the code may go on behind our back: that of pure worlds cannot */
  constructor(signal: AbortSignal, watch: Watch, background = true) {
    this.#background = background;
    this.#signal = signal;
    this.#watch = watch;
    signal.addEventListener('abort', this.#onAbort);
  }

  close(): void {
    this.#closed = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  /** Run code of a stranger that answers at once and may fail. A throw becomes `failed:<origin>`. */
  call<T>(origin: FailureOrigin, what: string, work: () => T): T {
    this.#checkOpen(what);
    try {
      return this.#enter(origin, what, work);
    } catch (error) {
      throw endOf(origin, what, error, false);
    }
  }

  /**
   * Run one step that may fail. A throw becomes `failed:<origin>`, a missed deadline `timeout`, Ctrl-C `cancelled`; the
   * work is told to stop through the signal. An error whose `fields.origin` names an origin keeps that one. Those that only
   * repeat themselves are thrown on and end the run, unless the work is all a stranger's (`canEndRun`).
   */
  async step<T>(
    origin: FailureOrigin,
    what: string,
    timeoutMs: number | undefined,
    work: (signal: AbortSignal) => PromiseLike<T> | T,
    canEndRun = true,
  ): Promise<T> {
    this.#checkOpen(what);
    const controller = this.#controllerFor(timeoutMs);
    let timer: NodeJS.Timeout | undefined;
    let step: UnderWay | undefined;
    try {
      const result = this.#enter(origin, what, () => work(controller.signal), isOurs(origin) && canEndRun);
      if (!isThenable(result)) return result;
      const settled = await new Promise<T>((resolve, reject) => {
        const end = (because: EpisodeEnd): void => {
          reject(because);
          // A listener that throws does so in the scope of whoever listens.
          if (controller === this.#shared) this.#shared = undefined;
          this.#enter(origin, what, () => controller.abort());
        };
        step = { origin, what, end };
        this.#underWay.push(step);
        if (timeoutMs !== undefined) timer = setTimeout(() => end(late(what, timeoutMs)), timeoutMs);
        Promise.resolve(result).then(resolve, reject);
      });
      if (this.#stray && !isOurs(origin)) throw this.#stray;
      return settled;
    } catch (error) {
      throw endOf(origin, what, error, canEndRun);
    } finally {
      clearTimeout(timer);
      if (step) this.#underWay.splice(this.#underWay.indexOf(step), 1);
    }
  }

  /** Do what must be done even when everything else failed. Waits for it, but not for ever; never throws. */
  async quietly(what: string, timeoutMs: number, work: () => unknown): Promise<void> {
    // A timer that holds the process: work that never settles may be all that is left of it.
    let timer: NodeJS.Timeout | undefined;
    let hurry: (() => void) | undefined;
    try {
      const result = this.#enter('environment', what, work);
      if (!isThenable(result)) return;
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
        hurry = () => {
          clearTimeout(timer);
          timer = setTimeout(resolve, Math.min(timeoutMs, HURRIED_MS));
        };
        if (this.#signal.aborted) hurry();
        else this.#signal.addEventListener('abort', hurry);
      });
      await Promise.race([result, enough]);
    } catch {
      // The episode is over; what it was worth does not depend on this.
    } finally {
      clearTimeout(timer);
      if (hurry) this.#signal.removeEventListener('abort', hurry);
    }
  }

  /** Waits until code that nobody awaited has had its chance to fail, and throws what it failed with. */
  async settled(): Promise<void> {
    if (this.#scoped()) await strayErrorsTold();
    if (this.#stray) throw this.#stray;
  }

  #controllerFor(timeoutMs: number | undefined): AbortController {
    if (timeoutMs !== undefined && this.#background) return new AbortController();
    // After a step that was late, the next one has time again.
    this.#shared ??= new AbortController();
    return this.#shared;
  }

  #checkOpen(what: string): void {
    if (this.#signal.aborted) throw cancelled(what);
    if (this.#stray) throw this.#stray;
  }

  /** Pure worlds promise to do nothing behind our back, and are believed until one breaks the promise. */
  #scoped(): boolean {
    return this.#background || strayErrorsSeen();
  }

  #enter<T>(origin: FailureOrigin, what: string, work: () => T, ours: boolean = isOurs(origin)): T {
    if (ours || !this.#scoped()) return this.#watch(what, work);
    const scope: Scope = { what, fail: (error) => this.#failStray(origin, what, error) };
    return this.#watch(what, () => inScope(scope, work));
  }

  #failStray(origin: FailureOrigin, what: string, error: unknown): boolean {
    if (this.#closed) return false;
    const message = `${what}: unhandled error in background work: ${thrownText(error)}`;
    this.#stray ??= new EpisodeEnd(`failed:${origin}`, message);
    // A completion under way goes on: it shares a batch with those of other episodes.
    for (const { end, origin } of [...this.#underWay]) if (!isOurs(origin)) end(this.#stray);
    return true;
  }
}

/** Whether an error of ours would only repeat itself in every episode. */
export function endsRun(error: unknown): error is TurnwiseError {
  return TurnwiseError.isInstance(error) && FATAL_CODES.has(error.code);
}

/** How an episode ends in which `error` was thrown. Throws what must end the run, where it can. */
function endOf(origin: FailureOrigin, what: string, error: unknown, canEndRun: boolean): EpisodeEnd {
  const end = tried(() => (error instanceof EpisodeEnd ? error : undefined), undefined);
  if (end) return end;
  const known = TurnwiseError.isInstance(error) ? error : undefined;
  if (canEndRun && endsRun(error)) throw error;
  const said: unknown = tried(() => known?.fields.origin, undefined);
  const named = ORIGINS.find((candidate) => candidate === said) ?? origin;
  const text = thrownText(error, known ? KNOWN_TEXT_LIMIT : undefined);
  const cause = tried(() => (error instanceof Error ? error : undefined), undefined);
  return new EpisodeEnd(`failed:${named}`, `${what}: ${text}`, cause);
}

function cancelled(what: string): EpisodeEnd {
  return new EpisodeEnd('cancelled', `${what}: the run was asked to stop`);
}

function late(what: string, timeoutMs: number): EpisodeEnd {
  return new EpisodeEnd('timeout', `${what} took longer than ${timeoutMs} ms`);
}
