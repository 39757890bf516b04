/** Requests to a server of our own protocol. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { type Answer, type Call, exchange, parseAnswer, refused } from './http.ts';
import { keyHeaders } from './key.ts';

/** Pauses before a lost exchange is tried again; every request can be repeated, because it carries a key. */
const RETRY_PAUSES_MS = [50, 250, 1000] as const;

/** Requests to one server. Those that get no answer are repeated with their key, so that nothing happens twice. */
export class TurnwiseClient {
  readonly #base: string;
  readonly #timeoutMs: number;

  constructor(base: string, timeoutMs: number) {
    this.#base = base;
    this.#timeoutMs = timeoutMs;
  }

  async post<Schema extends z.ZodType>(
    path: string,
    body: object,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> {
    const call: Call = {
      method: 'POST',
      url: `${this.#base}${path}`,
      body,
      headers: { ...keyHeaders(), 'idempotency-key': randomUUID() },
      timeoutMs: this.#timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    };
    const answer = await this.#persist(call);
    if (answer.status < 200 || answer.status > 299) throw refused(call, answer);
    return parseAnswer(call, answer, schema);
  }

  /** A session that is gone already is closed. */
  async remove(path: string): Promise<void> {
    const url = `${this.#base}${path}`;
    const call: Call = { method: 'DELETE', url, headers: keyHeaders(), timeoutMs: this.#timeoutMs };
    const answer = await this.#persist(call);
    if (answer.status !== 204 && answer.status !== 404) throw refused(call, answer);
  }

  /** Until there is an answer other than "no room now", within the time for one call. */
  async #persist(call: Call): Promise<Answer> {
    const deadline = performance.now() + this.#timeoutMs;
    for (let attempt = 0; ; attempt++) {
      const pauseMs = RETRY_PAUSES_MS[Math.min(attempt, RETRY_PAUSES_MS.length - 1)]!;
      const late = performance.now() + pauseMs >= deadline;
      try {
        const answer = await exchange(call);
        if (answer.status !== 503 || late) return answer;
      } catch (error) {
        const lost = TurnwiseError.isInstance(error) && error.code === 'remote-unreachable';
        if (!lost || late || attempt >= RETRY_PAUSES_MS.length) throw error;
      }
      await sleep(pauseMs, undefined, call.signal === undefined ? {} : { signal: call.signal });
    }
  }
}
