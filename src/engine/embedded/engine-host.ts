/** Where the engine's state lives: in a worker thread, or in this one. */

import { EngineCore } from './engine-core.ts';
import type { EngineSettings } from './engine-settings.ts';
import { alreadyClosed, type Hearer, WorkerLink } from './worker-link.ts';
import { type Call, describeError, perform, reviveError, type Verb } from './worker-messages.ts';

export interface EngineHost {
  /**
   * `transfer` names buffers that are handed over; the caller must not use them afterwards. `heard` is a last parameter, and
   * hears from the other side.
   */
  call<V extends Verb>(
    verb: V,
    parameters: Parameters<EngineCore[V]>,
    transfer?: readonly ArrayBuffer[],
    heard?: Hearer,
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
    call: async (verb, parameters, _transfer, heard) => {
      if (closed) throw alreadyClosed();
      try {
        return (await perform(core, verb, heard ? [...parameters, heard] : parameters)) as never;
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
  const link = new EngineThread(entry, settings);
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

function hostInWorker(link: EngineThread, engine: number): EngineHost {
  let closed = false;
  return {
    call: async (verb, parameters, transfer = [], heard) => {
      if (closed) throw alreadyClosed();
      const call = { engine, verb, parameters, ...(heard && { tells: true }) };
      return (await link.call(call, transfer, heard)) as never;
    },
    attach: async (settings) => {
      if (closed) throw alreadyClosed();
      const number = link.number();
      try {
        await link.call({ engine, verb: 'attach', as: number, settings }, []);
      } catch (error) {
        link.engines--;
        throw error;
      }
      return hostInWorker(link, number);
    },
    close: async () => {
      if (closed || link.failure !== undefined) return;
      closed = true;
      try {
        await link.call({ engine, verb: 'close', parameters: [] }, []);
      } finally {
        // The last one to be closed ends the thread, not the last one that is asked to close.
        if (--link.engines === 0) await link.terminate();
      }
    },
  };
}

/** The thread, and the engines in it. */
class EngineThread extends WorkerLink<Call> {
  /** Those that have not been closed. */
  engines = 1;
  #numbers = 0;

  constructor(entry: URL, settings: EngineSettings) {
    super(entry, { name: 'turnwise-engine', workerData: settings });
  }

  /** A number for another engine. */
  number(): number {
    this.engines++;
    return ++this.#numbers;
  }
}
