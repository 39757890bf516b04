/**
 * The recording gateway: sessions behind the APIs that clients speak. Knows who may call, how often and for how long, and
 * holds calls back while weights change; what is answered is up to the sessions' models.
 */

import { type ServerType, serve } from '@hono/node-server';
import type { Json } from '../../core/json/json.ts';
import { newKey } from '../guard/secrets.ts';
import { untilAborted } from '../guard/until-aborted.ts';
import { ApiError } from './api-error.ts';
import { gatewayApp } from './app.ts';
import type { AnsweredChoice } from './call-recorder.ts';
import type { CallRequest } from './call-request.ts';
import type { LiveAnswer } from './dialects/coming.ts';
import { ownSession, portUnusable, sessionOver, stopping, tooFast, tooLate } from './gateway-errors.ts';
import { defaultLimits, type GatewayLimits, type GatewayOptions } from './gateway-options.ts';
import { RateLimit } from './rate-limit.ts';
import { GatewaySession } from './session/session.ts';
import type { SessionEnd, SessionOptions } from './session/session-options.ts';
import type { SessionRecord } from './session/session-record.ts';

export { defaultLimits, type GatewayLimits, type GatewayOptions } from './gateway-options.ts';

const KEEP_ALIVE_MS = 600_000;

/** Names of parameters that are counted; clients may send anything. */
const MAX_IGNORED = 64;

interface Held {
  readonly session: GatewaySession;
  readonly rate: RateLimit;
  /** Absent for sessions of this process, whose episodes end them. */
  readonly leaseMs: number | undefined;
}

export class Gateway {
  readonly limits: GatewayLimits;
  readonly key: string;
  readonly allowHosts: readonly string[];
  readonly #options: GatewayOptions;
  readonly #sessions: Map<string, Held> = new Map();
  readonly #ignored: Map<string, number> = new Map();
  #server: ServerType | undefined;
  #address = '';
  #sweep: NodeJS.Timeout | undefined;
  #running = 0;
  /** Resolves when calls may go on; absent while they may. */
  #pause: Promise<void> | undefined;
  #drained: (() => void) | undefined;
  #stopping = false;

  constructor(options: GatewayOptions = {}) {
    this.#options = options;
    this.limits = { ...defaultLimits, ...options.limits };
    this.key = options.key ?? newKey('tw-');
    this.allowHosts = options.allowHosts ?? [];
  }

  /** Begin to listen. @throws TurnwiseError `port-unusable` */
  async start(): Promise<this> {
    const { host = '127.0.0.1', port = 0 } = this.#options;
    const app = gatewayApp(this);
    await new Promise<void>((resolve, reject) => {
      const server = serve({ fetch: app.fetch, hostname: host, port }, (address) => {
        this.#address = `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
        resolve();
      });
      server.on('error', (cause: NodeJS.ErrnoException) => reject(portUnusable(host, port, cause)));
      // Clients reuse connections: a server that closes an idle one first may cut off a request that is on its way.
      if ('keepAliveTimeout' in server) server.keepAliveTimeout = KEEP_ALIVE_MS;
      this.#server = server;
    });
    this.#sweep = setInterval(() => this.endExpired(), Math.min(5000, this.limits.leaseMs / 4));
    this.#sweep.unref();
    return this;
  }

  /** Where it listens, without a path. */
  get address(): string {
    return this.#address;
  }

  /** The base URL that a client of this session is given. */
  baseURL(session: GatewaySession): string {
    return `${this.#address}/sessions/${session.id}/v1`;
  }

  /** The base URL that Anthropic's own clients are given: they append `/v1` themselves. */
  anthropicBaseURL(session: GatewaySession): string {
    return `${this.#address}/sessions/${session.id}`;
  }

  /** How often a parameter changed nothing, by its name. */
  get ignored(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#ignored);
  }

  /** A parameter changed nothing. */
  ignore(key: string): void {
    const name = this.#ignored.has(key) || this.#ignored.size < MAX_IGNORED ? key : 'other';
    const times = this.#ignored.get(name) ?? 0;
    this.#ignored.set(name, times + 1);
    if (times === 0) this.#options.onIgnored?.(name);
  }

  /** Ids of the open sessions. */
  get sessions(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  /** A session of this process: it has no lease, whoever opens it must close it. */
  open(options: SessionOptions): GatewaySession {
    return this.#hold(new GatewaySession(options), undefined);
  }

  /** A session made over HTTP. @throws ApiError */
  create(task: Json | undefined, leaseMs: number | undefined): GatewaySession {
    const { newSession } = this.#options;
    if (this.#stopping) throw stopping();
    if (!newSession) {
      throw new ApiError({
        status: 409,
        type: 'invalid_request_error',
        code: 'sessions_closed',
        message: 'This gateway belongs to a run, which opens its own sessions.',
      });
    }
    if (this.#sessions.size >= this.limits.sessions) {
      throw new ApiError({
        status: 429,
        type: 'rate_limit_error',
        code: 'too_many_sessions',
        message: `${this.limits.sessions} sessions are open, which is the limit. Close one, or let its lease run out.`,
        retryAfterSeconds: 5,
      });
    }
    return this.#hold(
      new GatewaySession({ ...newSession(), ...(task === undefined ? {} : { task }) }),
      Math.min(leaseMs ?? this.limits.leaseMs, this.limits.leaseMs),
    );
  }

  #hold(session: GatewaySession, leaseMs: number | undefined): GatewaySession {
    const { callsPerSecond, callBurst } = this.limits;
    this.#sessions.set(session.id, {
      session,
      rate: new RateLimit(callsPerSecond, callBurst, performance.now()),
      leaseMs,
    });
    return session;
  }

  /** @throws ApiError 404 */
  find(id: string): GatewaySession {
    return this.#held(id).session;
  }

  /** A session whose client may say what it was worth, and end it. @throws ApiError 404, 409 where a run opened it */
  requireLease(id: string): GatewaySession {
    const { session, leaseMs } = this.#held(id);
    if (leaseMs === undefined) throw ownSession();
    return session;
  }

  #held(id: string): Held {
    const held = this.#sessions.get(id);
    if (!held) throw sessionOver(id);
    return held;
  }

  /** End a session; its calls under way are dropped. @throws ApiError 404, also the second time */
  end(id: string, end: SessionEnd = {}, status: 'closed' | 'expired' = 'closed'): SessionRecord {
    const { session, leaseMs } = this.#held(id);
    this.#sessions.delete(id);
    session.close(end, status);
    const record = session.record();
    if (leaseMs !== undefined) this.#options.onEnd?.(record);
    return record;
  }

  /** End the sessions whose leases have run out. */
  endExpired(nowMs: number = performance.now()): void {
    for (const [id, { session, leaseMs }] of this.#sessions) {
      if (leaseMs === undefined || session.running > 0) continue;
      if (nowMs - session.lastActiveMs > leaseMs) this.end(id, {}, 'expired');
    }
  }

  /** The session, where it may be asked something now. @throws ApiError */
  admit(id: string): GatewaySession {
    const { session, rate } = this.#held(id);
    if (this.#stopping) throw stopping();
    const waitSeconds = rate.take(performance.now());
    if (waitSeconds > 0) throw tooFast(this.limits.callsPerSecond, waitSeconds);
    session.lastActiveMs = performance.now();
    return session;
  }

  /** One call, within its limits. `hungUp` is the client's, and `live` hears the answer while it is sampled. @throws ApiError */
  async call(
    id: string,
    request: CallRequest,
    hungUp: AbortSignal,
    live?: LiveAnswer,
  ): Promise<AnsweredChoice[]> {
    const session = this.admit(id);
    session.running++;
    const askedMs = performance.now();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooLate(this.limits.callTimeoutMs)), this.limits.callTimeoutMs);
    const signal = AbortSignal.any([hungUp, late.signal]);
    try {
      while (this.#pause) await untilAborted(this.#pause, signal);
      this.#running++;
      try {
        return await session.answer(request, signal, askedMs, live);
      } finally {
        this.#running--;
        if (this.#running === 0) this.#drained?.();
      }
    } finally {
      clearTimeout(timer);
      session.running--;
      session.lastActiveMs = performance.now();
    }
  }

  /** Hold new calls back, wait for those under way, do `work` (such as changing the weights), and go on. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    while (this.#pause) await this.#pause;
    let resume = (): void => {};
    this.#pause = new Promise((resolve) => {
      resume = resolve;
    });
    try {
      if (this.#running > 0) {
        await new Promise<void>((resolve) => {
          this.#drained = resolve;
        });
      }
      return await work();
    } finally {
      this.#drained = undefined;
      this.#pause = undefined;
      resume();
    }
  }

  /** Calls under way, and whether new ones are held back. */
  get state(): { readonly running: number; readonly paused: boolean } {
    return { running: this.#running, paused: this.#pause !== undefined };
  }

  /**
   * Take no more calls, wait for those under way, then end every session.
   *
   * @param drainMs longest wait for calls and for their answers to be sent; 0 drops them
   * @param hurry aborted: wait no longer
   */
  async stop(drainMs = 0, hurry?: AbortSignal): Promise<void> {
    clearInterval(this.#sweep);
    this.#stopping = true;
    const server = this.#server;
    const closed = new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    if (drainMs > 0 && server && !hurry?.aborted) await this.#drain(closed, drainMs, hurry);
    for (const id of this.sessions) this.end(id);
    if (server && 'closeAllConnections' in server) server.closeAllConnections();
    await closed;
  }

  /** A server that was closed keeps the connections of calls under way, and those that clients hold for later. */
  async #drain(closed: Promise<void>, drainMs: number, hurry: AbortSignal | undefined): Promise<void> {
    const server = this.#server!;
    const idle = setInterval(() => {
      if ('closeIdleConnections' in server) server.closeIdleConnections();
    }, 20);
    const limits = [AbortSignal.timeout(drainMs), ...(hurry ? [hurry] : [])];
    await untilAborted(closed, AbortSignal.any(limits)).catch(() => undefined);
    clearInterval(idle);
  }
}
