/**
 * The worker threads behind all sandboxes. Each runs one call at a time, with a deadline that holds even against native
 * loops. State is in snapshots, so that any worker can run any call, and a call can be given up and begun again.
 *
 * Calls that take long must not keep others waiting. One worker, the express, takes what came last and gives it up, after a
 * little while, when something comes that is later still; the others take what has waited longest and finish it. What was
given up once is for the others, so that the express is free again soon.
 */

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { TurnwiseError } from '../../../core/errors.ts';
import type { SandboxReply, SandboxRequest, Snapshot } from './messages.ts';
import { PRELUDE } from './prelude.ts';
import { serveSandboxes } from './worker.ts';

/** How long past its time limit a call may go on before its worker is ended. */
const GRACE_MS = 250;
const START_LIMIT_MS = 30_000;
/** How long the express works on a call before something later may take its place. */
const EXPRESS_MS = 1;
/** How long the express keeps itself free after an answer. */
const REST_MS = 3;
/** The express and at least one other; no more than there are processors, since each may loop, and within reason. */
const WORKERS = Math.max(2, Math.min(9, availableParallelism()));

const BOOTSTRAP = `
const { parentPort, workerData: { from, givenUp } } = require('node:worker_threads');
const load = require('node:module').createRequire(from);
const { newQuickJSWASMModuleFromVariant, newVariant } = load('quickjs-emscripten-core');
const { default: released } = load('@jitl/quickjs-wasmfile-release-sync');
const path = load.resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
const zeros = new Uint8Array(65536);
const wasmModule = new WebAssembly.Module(require('node:fs').readFileSync(path));
(${serveSandboxes})(parentPort, new Int32Array(givenUp), ${EXPRESS_MS}, ${JSON.stringify(PRELUDE)}, async (initial, maximum) => {
  const memory = new WebAssembly.Memory({ initial, maximum });
  const module = await newQuickJSWASMModuleFromVariant(newVariant(released, { wasmModule, wasmMemory: memory }));
  return { module, memory, maximumBytes: maximum * 65536 };
}, (page) => Buffer.compare(page, zeros) === 0);
`;

export interface Call extends Omit<SandboxRequest, 'call'> {
  readonly from?: { readonly state: number; readonly snapshot: Snapshot };
}
export type Answer = Extract<SandboxReply, { readonly kind: 'result' | 'limit' | 'broken' }>;

interface Job {
  /** Numbers are in the order of arrival. */
  readonly number: number;
  readonly call: Call;
  readonly settle: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
  /** The express has given it up once. */
  tried: boolean;
  /** Nobody waits for it any more. */
  dropped: boolean;
}

export class SandboxHost {
  readonly #lanes: readonly Lane[] = Array.from({ length: WORKERS }, () => new Lane());
  readonly #waiting: Job[] = [];
  #calls = 0;
  /** While the express rests: the last call before its rest. */
  #restsAfter: number | undefined;

  /**
   * The answer and the number of the call, which is that of the state after it. When `signal` aborts, the caller waits no
   * longer, whatever the workers do.
   */
  submit(call: Call, signal: AbortSignal): Promise<{ readonly answer: Answer; readonly state: number }> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const abort = (): void => {
        job.dropped = true;
        const position = this.#waiting.indexOf(job);
        if (position >= 0) this.#waiting.splice(position, 1);
        reject(signal.reason);
      };
      const settled = (): void => signal.removeEventListener('abort', abort);
      const job: Job = {
        number: ++this.#calls,
        call,
        settle: (answer) => {
          settled();
          resolve({ answer, state: job.number });
        },
        fail: (error) => {
          settled();
          reject(error);
        },
        tried: false,
        dropped: false,
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(job);
      this.#dispatch(job.call.from?.state);
    });
  }

  /** @param state that a worker may have, which is then asked first */
  #dispatch(state?: number): void {
    const [express] = this.#lanes;
    const idle = this.#lanes
      .filter(({ job }) => job === undefined)
      .sort((a, b) => Number(b.knows(state)) - Number(a.knows(state)));
    for (const lane of idle) {
      const job = lane === express ? this.#forExpress() : this.#waiting[0];
      if (job === undefined) continue;
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      void this.#work(lane, job);
    }
    const later = this.#waiting.at(-1);
    if (express?.job && later && !later.tried && later.number > express.job.number) express.giveUpSoon();
  }

  /** What came last, unless it has been tried or the express rests. */
  #forExpress(): Job | undefined {
    const after = this.#restsAfter ?? 0;
    return this.#waiting.findLast(({ tried, number }) => !tried && number > after);
  }

  /** Only where calls are known to take long: others are better tried at once. */
  #rest(): void {
    if (this.#restsAfter !== undefined || !this.#waiting.some(({ tried }) => tried)) return;
    this.#restsAfter = this.#calls;
    setTimeout(() => {
      this.#restsAfter = undefined;
      this.#dispatch();
    }, REST_MS);
  }

  async #work(lane: Lane, job: Job): Promise<void> {
    try {
      const reply = await lane.run(job);
      if (reply.kind !== 'given-up') {
        if (lane === this.#lanes[0]) this.#rest();
        job.settle(reply);
      } else if (!job.dropped) {
        job.tried = true;
        this.#waiting.push(job);
        this.#waiting.sort((a, b) => a.number - b.number);
      }
    } catch (error) {
      job.fail(error);
    }
    this.#dispatch();
  }
}

/** A worker, and another in its place where it had to be ended. */
class Lane {
  job: Job | undefined;
  readonly #givenUp = new Int32Array(new SharedArrayBuffer(4));
  readonly #states = new Set<number>();
  #worker: Worker | undefined;

  /** Whether the worker may still have the sandbox of that state. */
  knows(state: number | undefined): boolean {
    return state !== undefined && this.#states.has(state);
  }

  async run(job: Job): Promise<Answer | { readonly kind: 'given-up' }> {
    this.job = job;
    Atomics.store(this.#givenUp, 0, 0);
    const { call, number } = job;
    const { from, limits } = call;
    try {
      const worker = this.#worker ?? (await this.#start());
      const { state = 0 } = from ?? {};
      const brief = from && this.knows(state) ? { ...call, from: { state } } : call;
      const limitMs = limits.timeLimitMs + GRACE_MS;
      const ask = (request: Omit<SandboxRequest, 'call'>): Promise<SandboxReply> => {
        const reply = nextMessage(worker, START_LIMIT_MS, limitMs);
        worker.postMessage({ ...request, call: number } satisfies SandboxRequest);
        return reply;
      };
      let said = await ask(brief);
      if (said.kind === 'unknown') said = await ask(call);
      if (said.kind === 'broken' && said.reason === 'time') this.#end();
      if (said.kind === 'result') this.#remember(from?.state, number);
      return said as Answer | { readonly kind: 'given-up' };
    } catch (error) {
      this.#end();
      throw error;
    } finally {
      this.job = undefined;
    }
  }

  /**
   * Ask the worker to give up its present call, once it has had its little while. The worker looks at the clock itself: beside
   * calls that loop this thread may have to wait for a processor.
   */
  giveUpSoon(): void {
    if (this.job) Atomics.store(this.#givenUp, 0, this.job.number);
  }

  #remember(before: number | undefined, after: number): void {
    if (before !== undefined) this.#states.delete(before);
    this.#states.add(after);
    // Those used last are kept; which of the others are is known to the worker alone.
    for (const state of this.#states) {
      if (this.#states.size <= 32) break;
      this.#states.delete(state);
    }
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(BOOTSTRAP, {
      eval: true,
      workerData: { from: import.meta.url, givenUp: this.#givenUp.buffer },
      env: {},
      execArgv: [],
    });
    worker.on('error', () => undefined);
    // An idle worker must not keep the process alive; `nextMessage` holds it while a call is under way.
    worker.unref();
    this.#worker = worker;
    await nextMessage(worker, START_LIMIT_MS);
    return worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#states.clear();
  }
}

/**
 * The next message of the worker. A worker that is silent for too long counts as broken; one that dies is an error.
 *
 * @param callLimitMs from when the worker says that the call begins
 */
function nextMessage(worker: Worker, limitMs: number, callLimitMs = limitMs): Promise<SandboxReply> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      worker.unref();
      act();
    };
    const onMessage = (reply: SandboxReply): void => {
      if (reply.kind !== 'begun') {
        settle(() => resolve(reply));
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(silent, callLimitMs);
    };
    const onError = (cause: unknown): void => settle(() => reject(workerLost('it raised an error', cause)));
    const onExit = (code: number): void => settle(() => reject(workerLost(`it ended with code ${code}`)));
    const silent = (): void => settle(() => resolve({ kind: 'broken', reason: 'time', error: 'no answer' }));
    let timer = setTimeout(silent, limitMs);
    worker.ref();
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  });
}

function workerLost(seen: string, cause?: unknown): TurnwiseError {
  return new TurnwiseError('sandbox-lost', {
    what: 'The sandbox worker stopped',
    seen,
    next: 'The episode fails and is not learned from; later calls start a new worker',
    fields: { origin: 'tool' },
    ...(cause === undefined ? {} : { cause }),
  });
}
