/** Sampling sessions: names for weights to sample from, and the order of what was asked of them. */

import type { CheckpointPlace } from './checkpoints.ts';
import { conflict, unknown } from './refusals.ts';

/** What a sampling session samples from; `inflight` is whatever the model published last. */
export type SamplingSource =
  | { readonly kind: 'base' }
  | { readonly kind: 'snapshot'; readonly place: CheckpointPlace }
  | { readonly kind: 'inflight'; readonly modelId: string };

export interface SamplingSession {
  readonly id: string;
  readonly sessionId: string;
  readonly fingerprint: string;
  readonly source: SamplingSource;
  /** Requests seen, by number. */
  readonly requests: Map<string, { readonly fingerprint: string; readonly requestId: string }>;
}

/** Requests that are still recognised when they are sent again. */
const mostRemembered = 10_000;

export class SamplingSessions {
  readonly #sessions = new Map<string, SamplingSession>();

  get size(): number {
    return this.#sessions.size;
  }

  /** A session that is asked for again with the same content is the same session. */
  open(sessionId: string, number: number, fingerprint: string, source: SamplingSource): string {
    const id = `${sessionId}:sample:${number}`;
    const known = this.#sessions.get(id);
    if (known !== undefined && known.fingerprint !== fingerprint)
      throw conflict('The number of the sampling session was used for another', id);
    if (known === undefined)
      this.#sessions.set(id, { id, sessionId, fingerprint, source, requests: new Map() });
    return id;
  }

  get(id: string): SamplingSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw unknown('Sampling session', id);
    return session;
  }

  /** The number that `begin` gives, or that of the same request seen before. */
  enter(session: SamplingSession, seqId: string, fingerprint: string, begin: () => string): string {
    const known = session.requests.get(seqId);
    if (known?.fingerprint === fingerprint) return known.requestId;
    if (known !== undefined)
      throw conflict('The sequence number was used for another request', `seq_id ${seqId}`);
    const requestId = begin();
    session.requests.set(seqId, { fingerprint, requestId });
    if (session.requests.size > mostRemembered)
      session.requests.delete(session.requests.keys().next().value!);
    return requestId;
  }

  idsOf(sessionId: string): string[] {
    return [...this.#sessions.values()].filter((each) => each.sessionId === sessionId).map(({ id }) => id);
  }

  end(sessionId: string): void {
    for (const [id, session] of this.#sessions)
      if (session.sessionId === sessionId) this.#sessions.delete(id);
  }
}
