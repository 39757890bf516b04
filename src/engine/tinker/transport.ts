/**
 * Requests to a Tinker server, with the waiting that its protocol asks for. Knows routes and statuses, nothing of models.
 *
 * | answer             | what is done                                                              |
 * |--------------------|---------------------------------------------------------------------------|
 * | 408                | asked again at once                                                       |
 * | 5xx                | asked again: at once, then after growing pauses                           |
 * | 429, no connection | asked again after growing pauses (or what `retry-after` says)             |
 * | 400 without reason | asked again, at most three times: some proxies invent these               |
 * | 402                | asked again every five seconds, for up to an hour                         |
 * | anything else      | an error                                                                  |
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { TurnwiseError } from '../../core/errors.ts';
import { jsonLimits, jsonProblem } from '../../core/json/json-limits.ts';
import { withoutKey } from '../../core/json/without-key.ts';
import { ask, type HttpAnswer } from '../../core/node/http.ts';
import { followSignals } from '../../core/signals/followed-signal.ts';
import { garbled } from '../../wire/tinker/garbled.ts';
import { PROTOBUF } from '../../wire/tinker/shapes.ts';
import { clientClosed, statusError, unreachable } from './errors.ts';

export interface RetryPolicy {
  /** First pause; each next one is twice as long. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** How long a server may fail or be away. */
  readonly patienceMs: number;
  readonly paymentPauseMs: number;
  readonly paymentPatienceMs: number;
  /** Bare 400s in a row. */
  readonly bareRejections: number;
}

export const retryPolicy: RetryPolicy = {
  pauseMs: 1000,
  longestPauseMs: 30_000,
  patienceMs: 5 * 60_000,
  paymentPauseMs: 5000,
  paymentPatienceMs: 60 * 60_000,
  bareRejections: 3,
};

export interface TransportOptions {
  /** Without `/api/v1`. */
  readonly baseUrl: string;
  /** Sent in a header, and nowhere else. */
  readonly apiKey?: string;
  readonly policy?: Partial<RetryPolicy>;
  /** Aborted: every request ends. */
  readonly signal: AbortSignal;
  /** Called before a pause, at most every ten seconds, with what is waited for. */
  readonly onWait?: (reason: string) => void;
}

export interface Request {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: unknown;
  /** Instead of `body`: a message in protobuf. */
  readonly protobuf?: Uint8Array;
  readonly acceptProtobuf?: boolean;
  /** A server that has not answered by then is asked again, like after 408. */
  readonly timeoutMs?: number;
  /** Statuses to hand back instead of raising. */
  readonly expect?: readonly number[];
  /** Longest answer; default: 256 MiB. */
  readonly mostBytes?: number;
  /** Fail at the first answer that is no success. */
  readonly once?: boolean;
  /** Fail where there is no connection, as at the very beginning, when nothing is lost by it. */
  readonly mustReach?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly isProtobuf: boolean;
  readonly bytes: Uint8Array;
}

const requestTimeoutMs = 60_000;
const tellEveryMs = 10_000;
const mostRedirects = 5;
const answerBytes = 256 * 2 ** 20;
/** Each of the log-probabilities of likely tokens is a list of its own. */
const answerLimits = { ...jsonLimits, containers: 10_000_000 };
/** A question that hung is one that the server would have answered with 408. */
const nothingYet: Reply = { status: 408, isProtobuf: false, bytes: new Uint8Array(0) };

export class Transport {
  readonly baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #policy: RetryPolicy;
  readonly #signal: AbortSignal;
  readonly #onWait: (reason: string) => void;
  #toldAt = Number.NEGATIVE_INFINITY;

  /** @throws TurnwiseError `config-invalid` */
  constructor({ baseUrl, apiKey, policy, signal, onWait = () => {} }: TransportOptions) {
    requireServerAddress(baseUrl);
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.#apiKey = apiKey;
    this.#policy = { ...retryPolicy, ...policy };
    this.#signal = signal;
    this.#onWait = onWait;
  }

  /** The same server and key under another signal. */
  with(signal: AbortSignal): Transport {
    const { baseUrl } = this;
    return new Transport({
      baseUrl,
      policy: this.#policy,
      signal,
      ...(this.#apiKey !== undefined && { apiKey: this.#apiKey }),
    });
  }

  /** @throws TurnwiseError by status (see `statusError`), `tinker-unreachable`, `engine-closed` */
  async request(route: string, request: Request = {}): Promise<Reply> {
    const policy = this.#policy;
    const began = performance.now();
    let pauseMs = policy.pauseMs;
    let failures = 0;
    let bareRejections = 0;
    let owing: number | undefined;
    for (;;) {
      const reply = await this.#send(route, request);
      if (reply instanceof Reached) {
        const { status } = reply;
        if (status < 300 || request.expect?.includes(status)) return reply;
        const detail = this.#redacted(detailOf(reply.bytes));
        const error = statusError(status, route, detail);
        if (request.once) throw error;
        if (status === 402) {
          owing ??= performance.now();
          if (performance.now() - owing > policy.paymentPatienceMs) throw error;
          await this.#pause(policy.paymentPauseMs, error.message);
          continue;
        }
        if (status === 400 && detail === '' && bareRejections++ < policy.bareRejections) continue;
        const isTransient = status === 408 || status === 429 || status >= 500;
        if (!isTransient || performance.now() - began > policy.patienceMs) throw error;
        if (status === 408 || (status >= 500 && failures++ === 0)) continue;
        await this.#pause(reply.retryAfterMs ?? pauseMs, error.message);
      } else {
        if (this.#signal.aborted) throw clientClosed();
        if (reply.timedOut && request.expect?.includes(408)) return nothingYet;
        if (reply.timedOut && !request.once && performance.now() - began < policy.patienceMs) continue;
        const error = unreachable(this.baseUrl, route, reply.error);
        if (request.once || request.mustReach || performance.now() - began > policy.patienceMs) throw error;
        await this.#pause(pauseMs, error.message);
      }
      pauseMs = Math.min(policy.longestPauseMs, 2 * pauseMs);
    }
  }

  /** The answer as JSON. */
  async json(route: string, request: Request = {}): Promise<unknown> {
    return parseJson(await this.request(route, request), route);
  }

  /** The key taken out of whatever a server may have echoed. */
  #redacted(text: string): string {
    return withoutKey(text, this.#apiKey);
  }

  async #pause(ms: number, reason: string): Promise<void> {
    const now = performance.now();
    if (now - this.#toldAt > tellEveryMs) {
      this.#toldAt = now;
      this.#onWait(`waiting for the Tinker server, and asking again. ${reason}`);
    }
    try {
      await sleep(ms, undefined, { signal: this.#signal });
    } catch {
      throw clientClosed();
    }
  }

  async #send(route: string, request: Request): Promise<Reached | Lost> {
    const { body, protobuf, acceptProtobuf, timeoutMs = requestTimeoutMs, mostBytes = answerBytes } = request;
    const timeout = AbortSignal.timeout(timeoutMs);
    const { signal, release } = followSignals([this.#signal, timeout]);
    const content = protobuf ?? (body === undefined ? undefined : JSON.stringify(body));
    try {
      // Downloads are often elsewhere, where the key does not go.
      const response = await ask(`${this.baseUrl}/api/v1${route}`, {
        method: request.method ?? 'POST',
        headers: {
          ...(content !== undefined && { 'content-type': protobuf ? PROTOBUF : 'application/json' }),
          accept: acceptProtobuf ? PROTOBUF : 'application/json',
        },
        ...(this.#apiKey !== undefined && { secrets: { 'x-api-key': this.#apiKey } }),
        signal,
        redirects: mostRedirects,
        ...(content !== undefined && { body: content }),
      });
      const bytes = await response.bytes(mostBytes);
      if (bytes === undefined)
        throw garbled(`${route} answered at too great a length`, `more than ${mostBytes} bytes`);
      return new Reached(response, bytes);
    } catch (error) {
      if (TurnwiseError.isInstance(error)) throw error;
      return new Lost(error, timeout.aborted);
    } finally {
      release();
    }
  }
}

/** @throws TurnwiseError `config-invalid` for what is no address, or one that holds a secret that files would keep */
export function requireServerAddress(baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isHttp && url.username === '' && url.password === '') return;
  throw new TurnwiseError('config-invalid', {
    what: 'The address of the Tinker server cannot be used',
    seen: isHttp ? 'an address with a name or password in it' : baseUrl,
    allowed: 'http://… or https://…, and the key in the environment as TINKER_API_KEY',
    fields: { key: 'baseUrl' },
  });
}

class Reached implements Reply {
  readonly status: number;
  readonly isProtobuf: boolean;
  readonly bytes: Uint8Array;
  readonly retryAfterMs: number | undefined;

  constructor(answer: HttpAnswer, bytes: Uint8Array) {
    this.status = answer.status;
    this.isProtobuf = answer.header('content-type')?.includes(PROTOBUF) ?? false;
    this.bytes = bytes;
    const seconds = Number(answer.header('retry-after') ?? Number.NaN);
    this.retryAfterMs = seconds >= 0 && seconds < 3600 ? 1000 * seconds : undefined;
  }
}

class Lost {
  readonly error: unknown;
  readonly timedOut: boolean;

  constructor(error: unknown, timedOut: boolean) {
    this.error = error;
    this.timedOut = timedOut;
  }
}

export function parseJson(reply: Reply, route: string): unknown {
  const text = Buffer.from(reply.bytes).toString('utf8');
  // Some servers delete with a JSON content type and an empty body.
  if (text === '') return {};
  const problem = jsonProblem(text, answerLimits);
  if (problem !== undefined) throw garbled(`${route} gave an answer that ${problem}`, text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw garbled(`${route} answered something else than JSON`, text, error);
  }
}

/** What an error's body says; empty where it says nothing. */
export function detailOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8').trim();
  if (jsonProblem(text) !== undefined) return text;
  try {
    const { detail, error, message } = JSON.parse(text) as Record<string, unknown>;
    const said = detail ?? error ?? message;
    return said === undefined ? '' : typeof said === 'string' ? said : describe(said);
  } catch {
    return text;
  }
}

/** Lists of problems in the form of Python validators: where, and what. */
function describe(said: unknown): string {
  if (!Array.isArray(said)) return JSON.stringify(said);
  return said
    .map((problem: { loc?: unknown[]; msg?: string }) =>
      problem?.msg === undefined
        ? JSON.stringify(problem)
        : `${(problem.loc ?? []).join('.')}: ${problem.msg}`,
    )
    .join('; ');
}
