import { afterAll, beforeAll, expect, test } from 'vitest';
import { Boundary, EpisodeEnd } from '../boundary.ts';
import { unwatched } from '../watch.ts';
import { type StrayErrors, withUserCode } from './stray-errors.ts';

const EVENTS = ['unhandledRejection', 'uncaughtException'] as const;
type Listener = (...values: unknown[]) => void;

/** The listeners of whoever runs the tests count every error as a failed test. */
const others = EVENTS.map((event) => process.listeners(event as 'exit') as Listener[]);
beforeAll(() => {
  for (const event of EVENTS) process.removeAllListeners(event);
});
afterAll(() => {
  for (const [index, event] of EVENTS.entries())
    for (const listener of others[index]!) process.on(event, listener);
});

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const rejectUnawaited = (message: string): void => void Promise.reject(new Error(message));

/** An episode of one step, in which `work` runs. */
async function episode(work: () => unknown): Promise<string> {
  const boundary = new Boundary(never, unwatched);
  try {
    await boundary.step('environment', 'stepping e', 1000, work);
    await boundary.settled();
    return 'done';
  } catch (error) {
    return error instanceof EpisodeEnd ? `${error.stop}: ${error.message}` : 'another error';
  } finally {
    boundary.close();
  }
}

const watched = <T>(work: (strays: StrayErrors, signal: AbortSignal) => Promise<T>): Promise<T> =>
  withUserCode(never, (signal, strays) => work(strays, signal));

test('an error that began in a step fails its episode, and only that one', async () => {
  await watched(async (strays) => {
    const ends = await Promise.all([
      episode(() => rejectUnawaited('now')),
      episode(() => 1),
      episode(async () => {
        setTimeout(() => {
          throw new Error('in a timer');
        }, 1);
        await new Promise(() => {});
      }),
      episode((): Promise<void> => new Promise((resolve) => setTimeout(resolve, 3))),
    ]);
    expect(ends).toEqual([
      'failed:environment: stepping e: unhandled error in background work: now',
      'done',
      'failed:environment: stepping e: unhandled error in background work: in a timer',
      'done',
    ]);
    expect(strays.take()).toBeUndefined();
  });
  for (const event of EVENTS) expect(process.listenerCount(event)).toBe(0);
});

test('a listener that throws when it is told to stop fails nothing else', async () => {
  const boundary = new Boundary(never, unwatched);
  await watched(async (strays) => {
    const stepping = boundary.step('environment', 'stepping e', 5, (signal) => {
      signal.addEventListener('abort', () => {
        throw new Error('I will not stop');
      });
      return new Promise(() => {});
    });
    await expect(stepping).rejects.toThrow('stepping e took longer than 5 ms');
    boundary.close();
    await turn();
    expect(strays.take()).toBeUndefined();
  });
});

test('errors of episodes that are over and of no episode are counted, and told once', async () => {
  await watched(async (strays) => {
    expect(await episode(() => void setTimeout(() => rejectUnawaited('too late'), 2))).toBe('done');
    await turn();
    for (let count = 0; count < 3; count++) rejectUnawaited('nobody knows');
    await turn();
    expect(strays.take()).toMatchInlineSnapshot(
      `"4 unhandled errors in the background work of the environment, outside any running episode. First: stepping e: too late"`,
    );
    expect(strays.take()).toBeUndefined();
  });
});

test('what an inner run has not told, the outer one tells', async () => {
  await watched(async (outer) => {
    await watched(async () => {
      rejectUnawaited('at the end');
      await turn();
    });
    expect(outer.take()).toContain('1 unhandled error in');
  });
});

test('an error of our own code ends the work, which is told to stop', async () => {
  const ours = new Error('out of memory');
  ours.stack = `Error: out of memory\n    at node:internal/x:1:1\n    at run (${new URL('../../engine/engine.ts', import.meta.url).href}:1:1)`;
  let told = false;
  const run = watched(async (_strays, signal) => {
    signal.addEventListener('abort', () => {
      told = true;
    });
    void Promise.reject(ours);
    await new Promise(() => {});
  });
  await expect(run).rejects.toBe(ours);
  expect(told).toBe(true);
});
