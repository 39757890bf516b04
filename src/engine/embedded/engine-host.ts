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
  close(): Promise<void>;
}

/** The state in this thread: calls block the event loop while they compute. */
export async function startInProcess(settings: EngineSettings): Promise<EngineHost> {
  const core = await EngineCore.create(settings);
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
  const worker = new Worker(entry, {
    workerData: settings,
    name: 'turnwise-engine',
    // The large arrays live outside the heap; without a bound the young generation grows by 20 MB over 400 steps.
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  });
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (reason: unknown) => void }>();
  let failure: TurnwiseError | undefined;
  let count = 0;
  const fail = (error: TurnwiseError): void => {
    failure ??= error;
    for (const { reject } of pending.values()) reject(failure);
    pending.clear();
  };
  worker.on('message', (answer: Answer) => {
    const call = pending.get(answer.id);
    pending.delete(answer.id);
    if (pending.size === 0) worker.unref();
    if ('error' in answer) call?.reject(reviveError(answer.error));
    else call?.resolve(answer.value);
  });
  worker.on('error', (error) => fail(engineFailed(error)));
  worker.on('exit', (code) => fail(engineFailed(new Error(`the engine's thread ended with code ${code}`))));

  const host: EngineHost = {
    call: (verb, parameters, transfer = []) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) {
          reject(failure);
          return;
        }
        const call: Call = { id: count++, verb, parameters };
        pending.set(call.id, { resolve: resolve as (value: unknown) => void, reject });
        // An idle engine must not keep the process alive; one that owes an answer must.
        worker.ref();
        worker.postMessage(call, [...transfer]);
      }),
    close: async () => {
      if (failure !== undefined) return;
      const closing = host.call('close', []);
      failure = alreadyClosed();
      try {
        await closing;
      } finally {
        await worker.terminate();
      }
    },
  };
  // Rejects here, rather than at the first use, when the state cannot be created.
  await host.call('statistics', []);
  return host;
}

function alreadyClosed(): TurnwiseError {
  return new TurnwiseError('engine-closed', {
    what: 'The engine was used after it was closed',
    next: 'Create another engine',
  });
}
