/** Entry of the worker thread: takes calls, runs them on the engine's state, and answers each by its number. */

import { parentPort, workerData } from 'node:worker_threads';
import { EngineCore, type EngineSettings } from './engine-core.ts';
import { type Answer, type Call, describeError, perform } from './worker-messages.ts';

const port = parentPort!;
const started = EngineCore.create(workerData as EngineSettings);

port.on('message', async ({ id, verb, parameters }: Call) => {
  let answer: Answer;
  try {
    const core = await started;
    answer = { id, value: await perform(core, verb, parameters) };
  } catch (error) {
    answer = { id, error: describeError(error) };
  }
  port.postMessage(answer);
  if (verb === 'close') port.close();
});
