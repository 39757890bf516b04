/** A JavaScript interpreter that an agent may use: no clock, no files, no network, and limits on time, memory and output. */

import { TurnwiseError } from '../../core/errors.ts';
import { type Answer, type Call, SandboxHost } from './node/host.ts';
import type { SandboxLimits } from './node/messages.ts';

export type { SandboxLimits } from './node/messages.ts';

export interface Evaluation {
  /** What the code printed, then the value of its last expression. */
  readonly output: string;
  /** What the code raised, or the limit it met. The fault of the code, so the agent may read it. */
  readonly error?: string;
  /** JSON of the value of the last expression, where it was asked for, and has some. */
  readonly value?: string;
}

/** What one call has otherwise than the others of its sandbox. */
export interface EvaluationOptions {
  readonly timeLimitMs?: number;
  /** Whether the value is wanted as JSON too. */
  readonly value?: boolean;
}

export interface Sandbox {
  /**
   * Run code as a script; its variables persist into later calls. A call that runs out of time or
   * memory is undone, as if it had never been made. Raises `sandbox-lost`, `sandbox-failed` and `sandbox-closed` where the sandbox itself fails, and the
   * reason of `signal` when it aborts: none of these says anything about the code.
   */
  evaluate(code: string, signal: AbortSignal, options?: EvaluationOptions): Promise<Evaluation>;
  /** An independent copy with the same variables. */
  fork(): Sandbox;
  close(): void;
}

let host: SandboxHost | undefined;

/**
 * A new, empty sandbox. All sandboxes of a process share a few worker threads, and each has a heap of its own.
 *
 * QuickJS compiled to WebAssembly keeps accidents and a clumsy policy in. It is not a wall against an attacker who has
 * a bug of the WebAssembly engine at hand.
 */
export function createSandbox(limits: SandboxLimits): Sandbox {
  host ??= new SandboxHost();
  return new WorkerSandbox(host, limits);
}

/** The interpreter in a worker is a cache: the truth is the snapshot after the last call that was not undone. */
class WorkerSandbox implements Sandbox {
  readonly #host: SandboxHost;
  readonly #limits: SandboxLimits;
  /** Absent before the first call. */
  #from: Call['from'];
  /** The calls of a sandbox follow one another. */
  #before: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(sandboxHost: SandboxHost, limits: SandboxLimits, from?: Call['from']) {
    this.#host = sandboxHost;
    this.#limits = limits;
    this.#from = from;
  }

  evaluate(code: string, signal: AbortSignal, options: EvaluationOptions = {}): Promise<Evaluation> {
    const result = this.#before.then(() => this.#evaluate(code, signal, options));
    this.#before = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  async #evaluate(
    code: string,
    signal: AbortSignal,
    { timeLimitMs = this.#limits.timeLimitMs, value = false }: EvaluationOptions,
  ): Promise<Evaluation> {
    if (this.#closed)
      throw new TurnwiseError('sandbox-closed', {
        what: 'This sandbox was closed',
        next: 'Create a new one',
      });
    const limits = { ...this.#limits, timeLimitMs };
    const call = { code, limits, value, ...(this.#from && { from: this.#from }) };
    const { answer, state } = await this.#host.submit(call, signal);
    if (answer.kind === 'result') {
      const { kind: _, snapshot, ...said } = answer;
      this.#from = { state, snapshot };
      return said;
    }
    return { output: answer.kind === 'limit' ? answer.output : '', error: this.#undone(answer, timeLimitMs) };
  }

  #undone(answer: Exclude<Answer, { readonly kind: 'result' }>, timeLimitMs: number): string {
    const { memoryLimitBytes } = this.#limits;
    const why = answer.kind === 'limit' ? answer.limit : answer.reason;
    switch (why) {
      case 'time':
        return `TimeLimit: the call took longer than ${timeLimitMs} ms and was undone`;
      case 'memory':
        return `MemoryLimit: the call took more than ${Math.round(memoryLimitBytes / 2 ** 20)} MiB and was undone`;
      case 'stack':
        return 'InternalError: stack overflow; the call was undone';
      case 'crash':
        return 'InternalError: the interpreter crashed; the call was undone';
      case 'other':
        throw new TurnwiseError('sandbox-failed', {
          what: 'The sandbox failed',
          ...(answer.kind === 'broken' && { seen: answer.error }),
          next: 'The episode fails and is not learned from; later calls start anew',
          fields: { origin: 'tool' },
        });
    }
  }

  fork(): Sandbox {
    return new WorkerSandbox(this.#host, this.#limits, this.#from);
  }

  close(): void {
    this.#closed = true;
    this.#from = undefined;
  }
}
