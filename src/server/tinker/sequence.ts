/**
 * The order of a model's requests: by their numbers, which start at 1. A number seen before with the same content is the same
 * request; requests that overtook others on the way wait for them, for a while. Nobody waits for one that was refused, whose
 * number may be used again as long as none that follows has begun: some clients count refusals, others do not.
 */

import { conflict, tooMany } from './refusals.ts';

export interface SequenceOptions {
  /** How long a request waits for those before it. */
  readonly gapMs: number;
  /** Most requests that wait so. */
  readonly mostWaiting: number;
}

interface Waiting {
  readonly start: () => void;
  readonly timer: NodeJS.Timeout;
}

export interface Entry {
  /** Opens the future of a new request. */
  open(): string;
  /** Begins its work; called in order, and must not throw. */
  start(requestId: string): void;
  /** It waited too long for those before it. */
  fail(requestId: string, error: Error): void;
}

export class Sequence {
  readonly #options: SequenceOptions;
  readonly #seen = new Map<number, { readonly fingerprint: string; readonly requestId: string }>();
  readonly #waiting = new Map<number, Waiting>();
  /** Numbers of requests that were refused. */
  readonly #refused = new Set<number>();
  #next = 1;
  #anonymous = 0;

  constructor(options: SequenceOptions) {
    this.#options = options;
  }

  /** Requests that were taken in so far. */
  get count(): number {
    return this.#next - 1 + this.#anonymous;
  }

  /**
   * Takes a request in; its future's number. Without `seqId` it begins at once.
   *
   * @throws TurnwiseError `request-conflict`, `request-too-many`
   */
  enter(seqId: number | undefined, fingerprint: string, entry: Entry): string {
    if (seqId === undefined) {
      const requestId = entry.open();
      this.#anonymous++;
      entry.start(requestId);
      return requestId;
    }
    const known = this.#seen.get(seqId);
    if (known?.fingerprint === fingerprint) return known.requestId;
    if (known !== undefined)
      throw conflict('The sequence number was used for another request', `seq_id ${seqId}`);
    if (seqId < this.#next)
      throw conflict('The sequence number has been passed', `seq_id ${seqId}; the next is ${this.#next}`);
    if (this.#waiting.size >= this.#options.mostWaiting)
      throw tooMany(
        'Too many requests wait for one that has not come',
        `seq_id ${this.#awaited()} is missing`,
        'Send it first',
      );
    const requestId = entry.open();
    this.#seen.set(seqId, { fingerprint, requestId });
    const start = (): void => entry.start(requestId);
    if (seqId <= this.#awaited()) this.#begin(seqId, start);
    else this.#waiting.set(seqId, { start, timer: this.#deadline(seqId, requestId, entry) });
    return requestId;
  }

  /** The request of this number was refused: those after it need not wait for it. */
  refuse(seqId: number): void {
    if (seqId < this.#next || this.#seen.has(seqId) || this.#refused.size >= this.#options.mostWaiting)
      return;
    this.#refused.add(seqId);
    this.#follow();
  }

  /** Nothing waits any more. */
  close(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  /** The first number that nothing is known of. */
  #awaited(): number {
    let awaited = this.#next;
    while (this.#refused.has(awaited)) awaited++;
    return awaited;
  }

  #begin(seqId: number, start: () => void): void {
    start();
    this.#next = seqId + 1;
    for (const refused of this.#refused) if (refused <= seqId) this.#refused.delete(refused);
    this.#follow();
  }

  /** Begins what waited for the numbers that are through now. */
  #follow(): void {
    const awaited = this.#awaited();
    const following = this.#waiting.get(awaited);
    if (following === undefined) return;
    clearTimeout(following.timer);
    this.#waiting.delete(awaited);
    this.#begin(awaited, following.start);
  }

  #deadline(seqId: number, requestId: string, entry: Entry): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#waiting.delete(seqId);
      this.#seen.delete(seqId);
      const seen = `seq_id ${seqId}; ${this.#awaited()} has not come`;
      entry.fail(
        requestId,
        conflict('A request came out of order, and those before it did not follow', seen),
      );
    }, this.#options.gapMs);
    timer.unref();
    return timer;
  }
}
