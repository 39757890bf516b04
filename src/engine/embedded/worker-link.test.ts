import { Worker } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { WorkerLink } from './worker-link.ts';

/** A thread that hears everything and answers nothing. */
const silent = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', () => {});`)}`,
);

afterEach(() => vi.restoreAllMocks());

/** A link with one call under way, and its thread. */
async function called(): Promise<{
  readonly link: WorkerLink<{ readonly id: number; readonly verb: string }>;
  readonly worker: Worker;
  readonly call: Promise<unknown>;
}> {
  const posted = vi.spyOn(Worker.prototype, 'postMessage');
  const link = new WorkerLink<{ readonly id: number; readonly verb: string }>(silent, {
    name: 'test',
    workerData: null,
  });
  const call = link.call({ verb: 'sample' });
  await vi.waitFor(() => expect(posted).toHaveBeenCalledOnce());
  return { link, worker: posted.mock.contexts[0] as Worker, call };
}

test('a thread that owes nothing does not keep the process alive', async () => {
  const { link, worker, call } = await called();
  const unref = vi.spyOn(worker, 'unref');
  worker.emit('message', [{ id: 0, value: 'said' }]);
  expect(await call).toBe('said');
  expect(unref).toHaveBeenCalledOnce();
  await link.terminate();
});

test('an answer that comes after the failure of its thread does not let the process end before it says so', async () => {
  const { link, worker, call } = await called();
  const unref = vi.spyOn(worker, 'unref');
  worker.emit('error', new Error('out of memory'));
  await expect(call).rejects.toMatchObject({ code: 'engine-failed' });
  const ended = link.terminate();
  // It was under way, on another channel than the error.
  worker.emit('message', [{ id: 0, value: 'late' }]);
  expect(unref).not.toHaveBeenCalled();
  await ended;
});
