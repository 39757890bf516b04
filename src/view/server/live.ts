/**
 * What happens in a run while somebody watches, as server-sent events:
 *
 *   hello        { offset }   where the log stands
 *   event        the line of the log, with the bytes up to its end as id
 *   episodes     { steps, evaluations }   those of which episodes were added to the index; empty where it was made anew
 *   state        the run was ended without a word
 *   generation   the log was replaced or cut: everything must be read anew
 *   runs         in the list of runs something changed
 *
 * Each connection reads for itself, from where its page stands; nothing is remembered here. As a run trains beside it, it looks
 * only where something may have happened.
 */

import { existsSync, type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SSEStreamingApi } from 'hono/streaming';
import { exactJson } from '../../core/json/exact-json.ts';
import { EventTail } from '../../store/event-tail.ts';
import { IndexTail } from './files/index-tail.ts';
import type { RunsFolder } from './runs-folder.ts';
import type { WatchedRun } from './watched-run.ts';

/** How often it looks where the system does not tell of changes, as on network disks. */
const pollMs = 250;
/** And where it does: the index of episodes is not among what it tells of. */
const restMs = 2000;
const listPollMs = 1000;
const togetherMs = 150;
const quietMs = 15_000;

/** Tell of a run until the page is closed. @param offset bytes of the log that it knows */
export async function tellRun(run: WatchedRun, offset: number, stream: SSEStreamingApi): Promise<void> {
  const tail = new EventTail(run.eventsPath, offset);
  const index = new IndexTail(run.indexPath);
  let isRunning = true;
  await stream.write(message('hello', { offset }));
  const watched = { folder: run.path, file: basename(run.eventsPath), toldMs: restMs, untoldMs: pollMs };
  await whileOpen(stream, watched, async (isQuiet) => {
    const { restarted, lines } = tail.next(true);
    const grown = index.next();
    const texts = restarted
      ? [message('generation', {})]
      : lines.map(({ event, end }) => message('event', event, end));
    if (grown) texts.push(message('episodes', grown));
    if (lines.length > 0) isRunning = true;
    else if (isQuiet && isRunning && run.state() !== 'running') {
      isRunning = false;
      texts.push(message('state', {}));
    }
    // All that happened meanwhile is one write.
    if (texts.length > 0) await stream.write(texts.join(''));
    return { grew: lines.length > 0, told: texts.length > 0 };
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
  await stream.write(message('hello', {}));
  const watched = { folder: folder.root, toldMs: listPollMs, untoldMs: listPollMs };
  await whileOpen(stream, watched, async () => {
    const now = marks();
    const told = now !== seen;
    seen = now;
    if (told) await stream.write(message('runs', {}));
    return { grew: false, told };
  });
}

function message(event: string, data: object, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${exactJson(data)}\n\n`;
}

interface Looked {
  /** Whether the watched file had grown. */
  readonly grew: boolean;
  readonly told: boolean;
}

interface Watched {
  readonly folder: string;
  /** The file whose changes matter; all of the folder by default. */
  readonly file?: string;
  /** Where the system tells of its changes, and where it does not. */
  readonly toldMs: number;
  readonly untoldMs: number;
}

/** Look whenever the system tells of a change, and now and then: often, until it is known to tell. */
async function whileOpen(
  stream: SSEStreamingApi,
  { folder, file, toldMs, untoldMs }: Watched,
  look: (isQuiet: boolean) => Promise<Looked>,
): Promise<void> {
  let wake: () => void = () => {};
  let changed = false;
  const notice = (): void => {
    changed = true;
    wake();
  };
  let watcher: FSWatcher | undefined;
  try {
    if (existsSync(folder)) {
      watcher = watch(folder, (_, name) => {
        if (file === undefined || name === null || name === file) notice();
      }).on('error', () => {});
    }
  } catch {
    // The system has no more watches to give.
  }
  stream.onAbort(() => notice());
  try {
    let toldAt = performance.now();
    let systemTells = false;
    while (!stream.aborted && !stream.closed) {
      const woken = changed;
      changed = false;
      const isQuiet = performance.now() - toldAt > quietMs;
      const { grew, told } = await look(isQuiet);
      if (grew) systemTells = woken;
      if (told || isQuiet) toldAt = performance.now();
      if (isQuiet && !told) await stream.write(': still here\n\n');
      // What follows it fast is told together.
      if (told) await sleep(togetherMs);
      if (changed) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, systemTells ? toldMs : untoldMs);
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
