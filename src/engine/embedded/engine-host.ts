/** Where the engine's state lives: in a worker thread, or in this one. */

import { Worker } from 'node:worker_threads';
import { TurnwiseError } from '../../core/errors.ts';
import { EngineCore, type EngineSettings } from './engine-core.ts';
import {
  type Answer,
  type Call,
  describeError,
  engineFailed,
  perform,
  reviveError,
  type Verb,
} from './worker-messages.ts';

export interface EngineHost {
  /** `transfer` names buffers that are handed over; the caller must not use them afterwards. */
  call<V extends Verb>(
    verb: V,
    parameters: Parameters<EngineCore[V]>,
    transfer?: readonly ArrayBuffer[],
  ): Promise<Awaited<ReturnType<EngineCore[V]>>>;
  /** Another engine in the same place, over the same base model. */
  attach(settings: EngineSettings): Promise<EngineHost>;
  close(): Promise<void>;
}

/** The state in this thread: calls block the event loop while they compute. */
export async function startInProcess(settings: EngineSettings): Promise<EngineHost> {
  return hostInProcess(await EngineCore.create(settings));
}

function hostInProcess(core: EngineCore): EngineHost {
  let closed = false;
  const host: EngineHost = {
    call: async (verb, parameters) => {
      if (closed) throw alreadyClosed();
      try {
        return (await perform(core, verb, parameters)) as never;
      } catch (error) {
        throw reviveError(describeError(error));
      }
    },
    attach: async (settings) => {
      if (closed) throw alreadyClosed();
      return hostInProcess(await core.attach(settings));
    },
    close: async () => {
      if (closed) return;
      await host.call('close', []);
      closed = true;
    },
  };
  return host;
}

/** The state in a worker thread. When the thread dies, every pending and later call is rejected. */
export async function startWorker(entry: URL, settings: EngineSettings): Promise<EngineHost> {
  const link = new WorkerLink(entry, settings);
  const host = hostInWorker(link, 0);
  // Rejects here, rather than at the first use, when the state cannot be created.
  try {
    await host.call('statistics', []);
  } catch (error) {
    await link.terminate();
    throw error;
  }
  return host;
}

function hostInWorker(link: WorkerLink, engine: number): EngineHost {
  let closed = false;
  return {
    call: async (verb, parameters, transfer = []) => {
      if (closed) throw link.failure ?? alreadyClosed();
      return (await link.call({ engine, verb, parameters }, transfer)) as never;
    },
    attach: async (settings) => {
      if (closed) throw link.failure ?? alreadyClosed();
      const number = link.number();
      await link.call({ engine, verb: 'attach', as: number, settings }, []);
      return hostInWorker(link, number);
    },
    close: async () => {
      if (closed || link.failure !== undefined) return;
      closed = true;
      link.engines--;
      try {
        await link.call({ engine, verb: 'close', parameters: [] }, []);
      } finally {
        if (link.engines === 0) await link.terminate();
      }
    },
  };
}

type Unnumbered = Call extends infer C ? (C extends Call ? Omit<C, 'id'> : never) : never;

/** The thread that engines share, and the calls that it owes an answer. */
class WorkerLink {
  /** Engines in the thread that have not been closed. */
  engines = 1;
  failure: TurnwiseError | undefined;
  readonly #worker: Worker;
  readonly #pending = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (reason: unknown) => void }
  >();
  #calls = 0;
  #numbers = 0;

  constructor(entry: URL, settings: EngineSettings) {
    this.#worker = new Worker(entry, {
      workerData: settings,
      name: 'turnwise-engine',
      // The large arrays live outside the heap; without a bound the young generation grows by 20 MB over 400 steps.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
    });
    this.#worker.on('message', (answer: Answer) => this.#receive(answer));
    this.#worker.on('error', (error) => this.#fail(engineFailed(error)));
    this.#worker.on('exit', (code) =>
      this.#fail(engineFailed(new Error(`the engine's thread ended with code ${code}`))),
    );
  }

  /** A number for another engine. */
  number(): number {
    this.engines++;
    return ++this.#numbers;
  }

  call(call: Unnumbered, transfer: readonly ArrayBuffer[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) {
        reject(this.failure);
        return;
      }
      const id = this.#calls++;
      this.#pending.set(id, { resolve, reject });
      // An idle engine must not keep the process alive; one that owes an answer must.
      this.#worker.ref();
      this.#worker.postMessage({ id, ...call }, [...transfer]);
    });
  }

  async terminate(): Promise<void> {
    this.failure ??= alreadyClosed();
    await this.#worker.terminate();
  }

  #receive(answer: Answer): void {
    const call = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if ('error' in answer) call?.reject(reviveError(answer.error));
    else call?.resolve(answer.value);
  }

  #fail(error: TurnwiseError): void {
    this.failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.failure);
    this.#pending.clear();
  }
}

function alreadyClosed(): TurnwiseError {
  return new TurnwiseError('engine-closed', {
    what: 'The engine was used after it was closed',
    next: 'Create another engine',
  });
}
