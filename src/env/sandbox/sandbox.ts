/** A JavaScript interpreter that an agent may use: no clock, no files, no network, and limits on time, memory and output. */

import { TurnwiseError } from '../../core/errors.ts';
import { SandboxHost } from './host.ts';
import type { SandboxLimits, SandboxReply } from './worker.ts';

export type { SandboxLimits } from './worker.ts';

export interface Evaluation {
  /** What the code printed, then the value of its last expression. */
  readonly output: string;
  /** What the code raised, or the limit it met. The fault of the code, so the agent may read it. */
  readonly error?: string;
}

export interface Sandbox {
  /**
   * Run code as a script; its variables persist into later calls. A call that runs out of time or
   * memory is undone, as if it had never been made. Raises `sandbox-lost`, `sandbox-failed` and `sandbox-closed` where the sandbox itself fails, and the
   * reason of `signal` when it aborts: none of these says anything about the code.
   */
  evaluate(code: string, signal: AbortSignal): Promise<Evaluation>;
  /** An independent copy with the same variables. */
  fork(): Sandbox;
  close(): void;
}

let host: SandboxHost | undefined;
let nextId = 0;

/**
 * A new, empty sandbox. All sandboxes of a process share one worker thread and each has its own interpreter and heap.
 *
 * QuickJS compiled to WebAssembly keeps accidents and a clumsy policy in. It is not a wall against an attacker who has
 * a bug of the WebAssembly engine at hand.
 */
export function createSandbox(limits: SandboxLimits): Sandbox {
  host ??= new SandboxHost();
  return new WorkerSandbox(host, limits, []);
}

/** The interpreter in the worker is a cache: the truth is the list of calls so far, which rebuilds it anywhere. */
class WorkerSandbox implements Sandbox {
  readonly #id = nextId++;
  readonly #host: SandboxHost;
  readonly #limits: SandboxLimits;
  readonly #history: string[];
  /** Generation of the worker that holds the interpreter; -1 where none does. */
  #generation = -1;
  #closed = false;

  constructor(sandboxHost: SandboxHost, limits: SandboxLimits, history: readonly string[]) {
    this.#host = sandboxHost;
    this.#limits = limits;
    this.#history = [...history];
  }

  async evaluate(code: string, signal: AbortSignal): Promise<Evaluation> {
    if (this.#closed)
      throw new TurnwiseError('sandbox-closed', {
        what: 'This sandbox was closed',
        next: 'Create a new one',
      });
    const call = { kind: 'evaluate', sandbox: this.#id, code, limits: this.#limits } as const;
    try {
      return await this.#host.submit(
        {
          request: (current) =>
            current === this.#generation ? call : { ...call, history: [...this.#history] },
          limitMs: () => this.#limits.timeLimitMs * (1 + this.#history.length),
          read: (reply, generation) => this.#read(code, reply, generation),
        },
        signal,
      );
    } catch (error) {
      // What the interpreter did meanwhile is not in the history, so it must be built anew.
      this.#generation = -1;
      throw error;
    } finally {
      if (this.#closed) this.#host.release(this.#id);
    }
  }

  #read(code: string, reply: SandboxReply, generation: number): Evaluation {
    if (reply.kind === 'result') {
      this.#generation = generation;
      this.#history.push(code);
      return reply.error === undefined
        ? { output: reply.output }
        : { output: reply.output, error: reply.error };
    }
    this.#generation = -1;
    if (reply.kind === 'limit' && reply.limit === 'time')
      return { output: reply.output, error: this.#outOfTime() };
    if (reply.kind === 'limit') return { output: reply.output, error: this.#outOfMemory() };
    if (reply.kind === 'broken' && reply.reason === 'time') return { output: '', error: this.#outOfTime() };
    if (reply.kind === 'broken' && reply.reason === 'stack')
      return { output: '', error: 'InternalError: stack overflow; the call was undone' };
    if (reply.kind === 'broken' && reply.reason === 'crash')
      return { output: '', error: 'InternalError: the interpreter crashed; the call was undone' };
    throw new TurnwiseError('sandbox-failed', {
      what: 'The sandbox failed',
      seen: reply.kind === 'ready' ? 'an answer to nothing' : reply.error,
      next: 'The episode fails and is not learned from; later calls start anew',
      fields: { origin: 'tool' },
    });
  }

  fork(): Sandbox {
    return new WorkerSandbox(this.#host, this.#limits, this.#history);
  }

  close(): void {
    this.#closed = true;
    this.#host.release(this.#id);
  }

  #outOfMemory(): string {
    const mebibytes = Math.round(this.#limits.memoryLimitBytes / 2 ** 20);
    return `MemoryLimit: the call took more than ${mebibytes} MiB and was undone`;
  }

  #outOfTime(): string {
    return `TimeLimit: the call took longer than ${this.#limits.timeLimitMs} ms and was undone`;
  }
}
