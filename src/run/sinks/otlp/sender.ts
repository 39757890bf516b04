/** Sends to a collector in the background: one request at a time, little memory, and no waiting. */

import { ask, reasonOf } from '../../../core/node/http.ts';
import { followSignals } from '../../../core/signals/followed-signal.ts';

export type Signal = 'traces' | 'metrics';

export interface SenderOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

interface Waiting {
  readonly signal: Signal;
  readonly body: Uint8Array<ArrayBuffer>;
}

const mostWaitingBytes = 8 * 2 ** 20;
const mostFailures = 3;
/** The collector does not take this signal, and will not. */
const refusals = [404, 405, 415];

export class Sender {
  readonly #options: SenderOptions;
  readonly #queue: Waiting[] = [];
  readonly #ended = new Set<Signal>();
  readonly #abort = new AbortController();
  #waitingBytes = 0;
  #failures = 0;
  #sending: Promise<void> | undefined;
  #problem = '';
  /** Requests that were left out, since too many waited. */
  dropped = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /**
   * Send when the requests before it are through.
   *
   * @throws Error where the collector takes nothing
   */
  send(signal: Signal, body: Uint8Array): void {
    this.#raise();
    if (this.#ended.has(signal)) return;
    this.#queue.push({ signal, body: new Uint8Array(body) });
    this.#waitingBytes += body.length;
    while (this.#waitingBytes > mostWaitingBytes && this.#queue.length > 1) {
      this.#waitingBytes -= this.#queue.shift()!.body.length;
      this.dropped++;
    }
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Wait for what is under way and what waits, not longer than `limitMs`. @throws Error as `send` */
  async close(limitMs: number): Promise<void> {
    const late = setTimeout(() => this.#abort.abort(), limitMs);
    try {
      await this.#sending;
    } finally {
      clearTimeout(late);
    }
    this.#raise();
  }

  /** Both signals must fail, since many collectors take only one. */
  #raise(): void {
    if (this.#ended.size === 2) throw new Error(this.#problem);
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#queue.shift(); next && !this.#abort.signal.aborted; next = this.#queue.shift()) {
      this.#waitingBytes -= next.body.length;
      if (!this.#ended.has(next.signal)) await this.#post(next);
    }
  }

  async #post({ signal, body }: Waiting): Promise<void> {
    const { url, headers, timeoutMs } = this.#options;
    const limits = followSignals([this.#abort.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const answer = await ask(`${url}/v1/${signal}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-protobuf' },
        secrets: headers,
        body,
        signal: limits.signal,
      });
      answer.discard();
      const { status } = answer;
      if (status >= 200 && status < 300) this.#failures = 0;
      else this.#failed(signal, `the collector answered ${status}`, refusals.includes(status));
    } catch (error) {
      this.#failed(signal, reasonOf(error), false);
    } finally {
      limits.release();
    }
  }

  #failed(signal: Signal, problem: string, isRefusal: boolean): void {
    this.#problem = `${new URL(this.#options.url).host}: ${problem}`;
    if (isRefusal) this.#ended.add(signal);
    else if (++this.#failures >= mostFailures) {
      for (const one of ['traces', 'metrics'] as const) this.#ended.add(one);
    }
  }
}
