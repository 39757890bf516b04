import { describe, expect, it } from 'vitest';
import { startInProcess, startWorker } from './engine-host.ts';
import type { EngineSettings } from './engine-settings.ts';

const settings: EngineSettings = {
  shape: {
    vocabulary: 5,
    width: 4,
    layers: 1,
    heads: 1,
    keyValueHeads: 1,
    headWidth: 4,
    hidden: 4,
    activation: 'gelu',
    tiedHead: true,
    ropeTheta: 10000,
    contextLength: 8,
    normEpsilon: 1e-5,
  },
  seed: 0,
  threads: 1,
  tokenBudget: 8,
  slots: 1,
};

/** A thread that answers as `body` says; `statistics`, the first call, succeeds. */
const threadOf = (body: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from 'node:worker_threads';
      parentPort.on('message', (calls) => {
        for (const { id, verb } of calls) {
          if (verb !== 'publish' && verb !== 'freeze') parentPort.postMessage([{ id, value: {} }]);
          else { ${body} }
        }
      });`)}`,
  );

describe('startWorker', () => {
  it('rejects what is pending, and every later call, when the thread crashes', async () => {
    const host = await startWorker(
      threadOf(`setTimeout(() => { throw new Error('out of memory'); }, 5);`),
      settings,
    );
    const calls = await Promise.allSettled([host.call('publish', []), host.call('freeze', [1])]);
    for (const call of calls) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'engine-failed' } });
      expect((call as PromiseRejectedResult).reason.cause.message).toBe('out of memory');
    }
    await expect(host.call('publish', [])).rejects.toMatchObject({ code: 'engine-failed' });
    await host.close();
  });

  it('rejects when the thread just ends', async () => {
    const host = await startWorker(threadOf('process.exit(3);'), settings);
    await expect(host.call('publish', [])).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The embedded engine failed. Seen: the engine's thread ended with code 3. Resume from the last checkpoint.]`,
    );
  });

  it('brings errors over with code, message and fields', async () => {
    const host = await startWorker(
      threadOf(
        `parentPort.postMessage([{ id, error: { code: 'non-finite-loss', message: 'Bad.', fields: { row: 3 } } }]);`,
      ),
      settings,
    );
    await expect(host.call('publish', [])).rejects.toMatchObject({
      code: 'non-finite-loss',
      message: 'Bad.',
      fields: { row: 3 },
    });
    await host.close();
    await expect(host.call('publish', [])).rejects.toMatchObject({ code: 'engine-closed' });
  });
});

describe('startInProcess', () => {
  it('turns unforeseen errors into engine-failed and refuses calls after close', async () => {
    const host = await startInProcess(settings);
    await expect(host.call('forwardBackward', [undefined as never, 'unknown'])).rejects.toMatchObject({
      code: 'engine-failed',
    });
    await host.close();
    await host.close();
    await expect(host.call('publish', [])).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The engine was used after it was closed. Create another engine.]`,
    );
  });
});
