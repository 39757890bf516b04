/** A WebSocket to an OpenEnv server: one question at a time, since answers carry no ids, and a deadline for each. */

import { WebSocket } from 'ws';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { jsonProblem } from '../../core/json/json-limits.ts';
import { blaming, excerpt, invalidAnswer } from './http.ts';
import { keyHeaders } from './key.ts';

const answerShape = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('observation'),
    data: z.object({
      observation: z.record(z.string(), z.json()),
      reward: z.union([z.number(), z.boolean()]).nullish(),
      done: z.boolean(),
    }),
  }),
  z.object({ type: z.literal('state'), data: z.record(z.string(), z.json()) }),
  /** Not of OpenEnv: what a scripted player of a Turnwise server would write. */
  z.object({ type: z.literal('script'), data: z.object({ text: z.string().nullable() }) }),
  z.object({
    type: z.literal('error'),
    data: z.looseObject({ message: z.string().default(''), code: z.string().default('') }),
  }),
]);
export type OpenEnvAnswer = z.output<typeof answerShape>;

/** Longest message that is read, as OpenEnv's own clients allow. */
const MESSAGE_LIMIT = 100 * 1024 * 1024;

const CLOSE_TIMEOUT_MS = 1_000;

export class OpenEnvSocket {
  readonly #url: string;
  readonly #socket: WebSocket;
  /** Answers that nobody has asked for yet: a server without room says so before it is asked anything. */
  readonly #inbox: OpenEnvAnswer[] = [];
  #waiting:
    | { readonly resolve: (answer: OpenEnvAnswer) => void; readonly reject: (reason: unknown) => void }
    | undefined;
  #failure: TurnwiseError | undefined;

  private constructor(url: string, timeoutMs: number) {
    this.#url = url;
    this.#socket = new WebSocket(url, {
      maxPayload: MESSAGE_LIMIT,
      handshakeTimeout: timeoutMs,
      headers: keyHeaders(),
    });
    this.#socket.on('message', (raw) => this.#receive(raw.toString()));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', (code) => this.#fail(new Error(`closed with code ${code}`)));
  }

  /** @throws TurnwiseError `remote-unreachable` */
  static connect(url: string, timeoutMs: number): Promise<OpenEnvSocket> {
    const made = new OpenEnvSocket(url, timeoutMs);
    return new Promise((resolve, reject) => {
      made.#socket.once('open', () => resolve(made));
      made.#socket.once('error', () => reject(made.#failure));
    });
  }

  /**
   * Ask, and wait for the answer. After a missed deadline or an abort the socket is closed: a late answer would be taken
   * for that of the next question.
   *
   * @throws TurnwiseError `remote-timeout`, `remote-unreachable`, `remote-answer-invalid`; the reason of `signal`
   */
  async ask(
    type: 'reset' | 'step' | 'state' | 'script',
    data: unknown,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<OpenEnvAnswer> {
    signal?.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    let stop: (() => void) | undefined;
    try {
      return await new Promise<OpenEnvAnswer>((resolve, reject) => {
        this.#waiting = { resolve, reject };
        timer = setTimeout(() => {
          const what = `${this.#url} did not answer "${type}" in time`;
          this.#give(
            reject,
            new TurnwiseError('remote-timeout', blaming(this.#call, { what, allowed: `${timeoutMs} ms` })),
          );
        }, timeoutMs);
        stop = () => this.#give(reject, signal?.reason);
        signal?.addEventListener('abort', stop);
        if (this.#failure === undefined) this.#socket.send(JSON.stringify({ type, data }));
        this.#deliver();
      });
    } finally {
      clearTimeout(timer);
      if (stop !== undefined) signal?.removeEventListener('abort', stop);
      this.#waiting = undefined;
    }
  }

  close(): void {
    const { readyState } = this.#socket;
    if (readyState === WebSocket.CLOSED) return;
    // The server closes the socket once its session is over; one that does not is left.
    if (readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ type: 'close' }));
    const patience = setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS);
    this.#socket.once('close', () => clearTimeout(patience));
  }

  get #call(): { method: 'GET'; url: string } {
    return { method: 'GET', url: this.#url };
  }

  #give(reject: (reason: unknown) => void, reason: unknown): void {
    this.#socket.terminate();
    reject(reason);
  }

  #receive(text: string): void {
    let value: unknown;
    const problem = jsonProblem(text);
    if (problem !== undefined) {
      this.#fail(invalidAnswer(this.#call, `an answer that ${problem}`));
      return;
    }
    try {
      value = JSON.parse(text);
    } catch {
      this.#fail(invalidAnswer(this.#call, excerpt(text), 'JSON'));
      return;
    }
    const parsed = answerShape.safeParse(value);
    if (parsed.success) {
      this.#inbox.push(parsed.data);
      this.#deliver();
    } else {
      this.#fail(invalidAnswer(this.#call, excerpt(text), 'an observation, a state or an error'));
    }
  }

  #deliver(): void {
    if (this.#waiting === undefined) return;
    const answer = this.#inbox.shift();
    if (answer !== undefined) this.#waiting.resolve(answer);
    else if (this.#failure !== undefined) this.#waiting.reject(this.#failure);
  }

  #fail(error: Error): void {
    this.#failure ??= TurnwiseError.isInstance(error)
      ? error
      : new TurnwiseError(
          'remote-unreachable',
          blaming(this.#call, {
            what: `${this.#url} could not be reached, or broke off`,
            seen: error.message,
            next: 'Check the address, and that the server is running.',
            cause: error,
          }),
        );
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.terminate();
    this.#deliver();
  }
}
