/** Entry of the worker thread: takes calls, runs them on the engine's state, and answers each by its number. */

import { parentPort, workerData } from 'node:worker_threads';
import { EngineCore } from './engine-core.ts';
import type { EngineSettings } from './engine-settings.ts';
import { HeapKeeper } from './heap-keeper.ts';
import { Outbox } from './outbox.ts';
import { type Answer, type Call, describeError, perform } from './worker-messages.ts';

const port = parentPort!;
/** Hundreds of requests and answers pass through here at once, and most outlive the young generation: 16 MB of them may wait. */
const heap = new HeapKeeper(2 ** 24);
/** The engines of this thread by number; the first is made at once. */
const engines = new Map<number, Promise<EngineCore>>([[0, EngineCore.create(workerData as EngineSettings)]]);

async function answer(call: Call): Promise<unknown> {
  const core = await engines.get(call.engine)!;
  if (call.verb !== 'attach') {
    const tell = (told: unknown): void => outbox.push({ id: call.id, told });
    return perform(core, call.verb, call.tells ? [...call.parameters, tell] : call.parameters);
  }
  const attached = core.attach(call.settings);
  engines.set(call.as, attached);
  try {
    await attached;
  } catch (error) {
    engines.delete(call.as);
    throw error;
  }
  return undefined;
}

const outbox = new Outbox<Answer>((answers) => {
  port.postMessage(answers);
  heap.collectIfGrown();
});

async function serve(call: Call): Promise<void> {
  const { id } = call;
  try {
    outbox.push({ id, value: await answer(call) });
  } catch (error) {
    outbox.push({ id, error: describeError(error) });
  }
  if (call.verb !== 'close') return;
  engines.delete(call.engine);
  if (engines.size === 0) setImmediate(() => port.close());
}

port.on('message', (calls: readonly Call[]) => {
  for (const call of calls) void serve(call);
});
