/** Promises by name: work that was taken, and its result until it was read or nobody came for it. */

import { categoryOf, conflict, gone, messageOf, unknown } from './refusals.ts';
import { SignedIds } from './signed-ids.ts';

export interface Result {
  readonly json: object;
  /** The same as protobuf, where the API has it. */
  readonly protobuf?: () => Uint8Array;
}

interface Future {
  readonly owner: string;
  readonly keeps: boolean;
  readonly settled: Promise<void>;
  readonly settle: () => void;
  result: Result | undefined;
  expiresAt: number;
}

export interface FutureLimits {
  /** How long results wait for being read. */
  readonly unreadMs: number;
  /** How long they stay after that, for clients whose connection broke while they read. */
  readonly readMs: number;
}

export class Futures {
  readonly #futures = new Map<string, Future>();
  readonly #limits: FutureLimits;
  readonly #now: () => number;
  readonly #ids = new SignedIds();

  constructor(limits: FutureLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get size(): number {
    return this.#futures.size;
  }

  /**
   * A name for work that has not begun. `owner` is the session it belongs to; with `keeps` the work changes something that lasts,
   * so that giving it up halfway would leave its traces.
   */
  open(owner: string, keeps: boolean): string {
    const id = this.#ids.next();
    const { promise, resolve } = withResolver();
    this.#futures.set(id, {
      owner,
      keeps,
      settled: promise,
      settle: resolve,
      result: undefined,
      expiresAt: Number.POSITIVE_INFINITY,
    });
    return id;
  }

  /**
   * Drops the result of work under way; what is done, or not known any more, is left as it is.
   *
   * @throws TurnwiseError `request-conflict` where the work changes something that lasts
   */
  cancel(id: string): void {
    const future = this.#futures.get(id);
    if (future === undefined || future.result !== undefined) return;
    if (future.keeps) throw conflict('What changes a model cannot be called off', `future ${id}`);
    this.fail(id, gone('The request was cancelled', `future ${id}`, 'Ask again under another number'));
  }

  /** The first result counts; what comes after (a cancelled sample that ends) is dropped. */
  settle(id: string, result: Result): void {
    const future = this.#futures.get(id);
    if (future === undefined || future.result !== undefined) return;
    future.result = result;
    future.expiresAt = this.#now() + this.#limits.unreadMs;
    future.settle();
  }

  fail(id: string, error: unknown): void {
    this.settle(id, { json: { error: messageOf(error), category: categoryOf(error) } });
  }

  /** Settles with what `work` comes to. */
  follow(id: string, work: Promise<Result>): void {
    work.then(
      (result) => this.settle(id, result),
      (error: unknown) => this.fail(id, error),
    );
  }

  /**
   * The result, or undefined where it is not there after `timeoutMs`.
   *
   * @throws TurnwiseError `request-unknown`, `request-gone`
   */
  async wait(id: string, timeoutMs: number): Promise<Result | undefined> {
    const future = this.#futures.get(id);
    if (future === undefined) {
      if (!this.#ids.isOwn(id)) throw unknown('Future', id);
      throw gone('The result is no longer here', `future ${id}`, 'Send the request again');
    }
    if (future.result === undefined) {
      const timer = withResolver();
      const timeout = setTimeout(timer.resolve, timeoutMs);
      await Promise.race([future.settled, timer.promise]);
      clearTimeout(timeout);
    }
    if (future.result === undefined) return undefined;
    future.expiresAt = Math.min(future.expiresAt, this.#now() + this.#limits.readMs);
    return future.result;
  }

  /** Forgets what nobody came for. */
  sweep(): void {
    const now = this.#now();
    for (const [id, { expiresAt }] of this.#futures) if (expiresAt <= now) this.#futures.delete(id);
  }

  /** Forgets everything of a session; who still waits for it is told. */
  drop(owner: string): void {
    const ended = gone('The session has ended', owner, 'Open another session');
    for (const [id, future] of this.#futures) {
      if (future.owner !== owner) continue;
      this.fail(id, ended);
      this.#futures.delete(id);
    }
  }
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
