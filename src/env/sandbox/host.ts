/** The worker thread behind all sandboxes: one call at a time, each with a deadline that holds even against native loops. */

import { Worker } from 'node:worker_threads';
import { TurnwiseError } from '../../core/errors.ts';
import { type SandboxReply, type SandboxRequest, serveSandboxes } from './worker.ts';

/** How long past its time limit a call may go on before the whole worker is ended. */
const GRACE_MS = 250;
const START_LIMIT_MS = 30_000;

const BOOTSTRAP = `
const { parentPort, workerData } = require('node:worker_threads');
const load = require('node:module').createRequire(workerData);
const { newQuickJSWASMModuleFromVariant, newVariant } = load('quickjs-emscripten-core');
const { default: released } = load('@jitl/quickjs-wasmfile-release-sync');
const path = load.resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
const wasmModule = new WebAssembly.Module(require('node:fs').readFileSync(path));
(${serveSandboxes})(parentPort, async (initial, maximum) => {
  const memory = new WebAssembly.Memory({ initial, maximum });
  const module = await newQuickJSWASMModuleFromVariant(newVariant(released, { wasmModule, wasmMemory: memory }));
  return { module, memory, maximumBytes: maximum * 65536 };
});
`;

export interface Call<Result> {
  /** What to send to the worker of this generation. */
  request(generation: number): SandboxRequest;
  /** Most the call may take, with the repetition of its history. */
  limitMs(): number;
  /** Takes the answer in before the next call starts. What it raises, the caller gets. */
  read(reply: SandboxReply, generation: number): Result;
}

interface Job {
  readonly call: Call<void>;
  fail(error: unknown): void;
}

/**
 * Serves every sandbox of the process from one worker. A call that no interrupt reaches ends the worker; the next call
 * starts another (a new `generation`), in which sandboxes are rebuilt from their history.
 */
export class SandboxHost {
  #generation = 0;
  #worker: Worker | undefined;
  readonly #queue: Job[] = [];
  #busy = false;

  /** Runs when the calls before it are over. When `signal` aborts, the caller waits no longer, whatever the worker does. */
  submit<Result>(call: Call<Result>, signal: AbortSignal): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const abort = (): void => {
        const position = this.#queue.indexOf(job);
        if (position >= 0) this.#queue.splice(position, 1);
        reject(signal.reason);
      };
      const read = (reply: SandboxReply, generation: number): void => {
        signal.removeEventListener('abort', abort);
        if (!signal.aborted) resolve(call.read(reply, generation));
      };
      const job: Job = {
        call: { ...call, read },
        fail: (error) => {
          signal.removeEventListener('abort', abort);
          reject(error);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#queue.push(job);
      if (!this.#busy) void this.#drain();
    });
  }

  /** Forget a sandbox, if its interpreter still lives. */
  release(sandbox: number): void {
    this.#worker?.postMessage({ kind: 'close', sandbox } satisfies SandboxRequest);
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      const { call, fail } = job;
      try {
        const reply = await this.#exchange(call);
        if (reply.kind === 'broken' && reply.reason === 'time') this.#end();
        call.read(reply, this.#generation);
      } catch (error) {
        fail(error);
      }
    }
    this.#busy = false;
  }

  async #exchange(call: Call<void>): Promise<SandboxReply> {
    try {
      const worker = this.#worker ?? (await this.#start());
      const reply = nextMessage(worker, call.limitMs() + GRACE_MS);
      worker.postMessage(call.request(this.#generation));
      return await reply;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(BOOTSTRAP, {
      eval: true,
      workerData: import.meta.url,
      env: {},
      execArgv: [],
    });
    worker.on('error', () => undefined);
    // An idle worker must not keep the process alive; `nextMessage` holds it while a call is under way.
    worker.unref();
    this.#worker = worker;
    this.#generation++;
    await nextMessage(worker, START_LIMIT_MS);
    return worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#generation++;
  }
}

/** The next message of the worker. A worker that is silent for too long counts as broken; one that dies is an error. */
function nextMessage(worker: Worker, limitMs: number): Promise<SandboxReply> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      worker.unref();
      act();
    };
    const onMessage = (reply: SandboxReply): void => settle(() => resolve(reply));
    const onError = (cause: unknown): void => settle(() => reject(workerLost('it raised an error', cause)));
    const onExit = (code: number): void => settle(() => reject(workerLost(`it ended with code ${code}`)));
    const timer = setTimeout(
      () => settle(() => resolve({ kind: 'broken', reason: 'time', error: 'no answer' })),
      limitMs,
    );
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
