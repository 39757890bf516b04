/**
 * What happens in a run while somebody watches, as server-sent events:
 *
 *   hello        { offset }   where the log stands
 *   event        the line of the log, with the bytes up to its end as id
 *   episodes     the index grew
 *   generation   the log was replaced or cut: everything must be read anew
 *   runs         in the list of runs something changed
 *
 * Each connection reads for itself, from where its page stands; nothing is remembered here.
 */

import { existsSync, type FSWatcher, watch } from 'node:fs';
import type { SSEStreamingApi } from 'hono/streaming';
import { exactJson } from '../../core/json/exact-json.ts';
import { EventTail } from '../../store/event-tail.ts';
import type { RunsFolder } from './runs-folder.ts';
import { markOf, type WatchedRun } from './watched-run.ts';

/** Where the system tells of changes, this only catches what it missed, as on network disks. */
const pollMs = 250;
const listPollMs = 1000;
const quietMs = 15_000;

/** Tell of a run until the page is closed. @param offset bytes of the log that it knows */
export async function tellRun(run: WatchedRun, offset: number, stream: SSEStreamingApi): Promise<void> {
  const tail = new EventTail(run.eventsPath, offset);
  let index = markOf(run.indexPath);
  await stream.writeSSE({ event: 'hello', data: JSON.stringify({ offset }) });
  await whileOpen(stream, run.path, pollMs, async () => {
    const { restarted, lines } = tail.next(true);
    if (restarted) {
      await stream.writeSSE({ event: 'generation', data: '{}' });
      return true;
    }
    for (const { event, end } of lines) {
      await stream.writeSSE({ event: 'event', id: String(end), data: exactJson(event) });
    }
    const mark = markOf(run.indexPath);
    const grew = mark !== index;
    index = mark;
    if (grew) await stream.writeSSE({ event: 'episodes', data: '{}' });
    return lines.length > 0 || grew;
  });
}

/** Tell that something of the runs has changed until the page is closed. */
export async function tellRuns(folder: RunsFolder, stream: SSEStreamingApi): Promise<void> {
  const marks = (): string =>
    folder
      .list()
      .map((run) => `${run.name} ${run.mark()}`)
      .join('\n');
  let seen = marks();
  await stream.writeSSE({ event: 'hello', data: '{}' });
  await whileOpen(stream, folder.root, listPollMs, async () => {
    const now = marks();
    if (now === seen) return false;
    seen = now;
    await stream.writeSSE({ event: 'runs', data: '{}' });
    return true;
  });
}

/** Call `look` whenever something in a folder may have changed; it says whether it told anything. */
async function whileOpen(
  stream: SSEStreamingApi,
  folder: string,
  everyMs: number,
  look: () => Promise<boolean>,
): Promise<void> {
  let wake: () => void = () => {};
  let changed = false;
  const notice = (): void => {
    changed = true;
    wake();
  };
  let watcher: FSWatcher | undefined;
  try {
    if (existsSync(folder)) watcher = watch(folder, notice).on('error', () => {});
  } catch {
    // The system has no more watches to give.
  }
  stream.onAbort(() => notice());
  try {
    let toldAt = performance.now();
    while (!stream.aborted && !stream.closed) {
      changed = false;
      if (await look()) toldAt = performance.now();
      if (performance.now() - toldAt > quietMs) {
        toldAt = performance.now();
        await stream.write(': still here\n\n');
      }
      if (changed) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    watcher?.close();
  }
}
