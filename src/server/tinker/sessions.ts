/** Sessions: what clients hold on a server, for as long as they are heard from. */

import { randomUUID } from 'node:crypto';
import { gone, tooMany, unknown } from './refusals.ts';

export interface SessionLimits {
  /** Silence after which a session ends; infinite for never. */
  readonly sessionTimeoutMs: number;
  readonly mostSessions: number;
}

interface Session {
  readonly id: string;
  readonly idempotencyKey: string | undefined;
  lastHeard: number;
}

/** Ids of ended sessions that are still told apart from unknown ones. */
const mostRemembered = 1000;

export class Sessions {
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  readonly #sessions = new Map<string, Session>();
  readonly #ended = new Set<string>();

  constructor(limits: SessionLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** A request that is sent again with its key is the same request. */
  open(idempotencyKey?: string): string {
    if (idempotencyKey !== undefined)
      for (const session of this.#sessions.values())
        if (session.idempotencyKey === idempotencyKey) return session.id;
    if (this.#sessions.size >= this.#limits.mostSessions)
      throw tooMany(
        'Too many sessions are open',
        `${this.#sessions.size}`,
        'Close some, or wait until they expire',
      );
    const id = `session-${randomUUID()}`;
    this.#sessions.set(id, { id, idempotencyKey, lastHeard: this.#now() });
    return id;
  }

  /** @throws TurnwiseError `request-unknown`, `request-gone` */
  hear(id: string): void {
    const session = this.#sessions.get(id);
    if (session !== undefined) session.lastHeard = this.#now();
    else if (this.#ended.has(id)) throw gone('The session has ended', id, 'Open another');
    else throw unknown('Session', id);
  }

  /** Sessions that have been silent for too long. */
  expired(): string[] {
    const limit = this.#now() - this.#limits.sessionTimeoutMs;
    return [...this.#sessions.values()].filter(({ lastHeard }) => lastHeard < limit).map(({ id }) => id);
  }

  ids(): string[] {
    return [...this.#sessions.keys()];
  }

  end(id: string): void {
    if (!this.#sessions.delete(id)) return;
    this.#ended.add(id);
    if (this.#ended.size > mostRemembered) this.#ended.delete(this.#ended.values().next().value!);
  }
}
