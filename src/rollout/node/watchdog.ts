/**
 * A pure environment runs on the main thread, so one that loops for ever would stop everything without a word. The
 * watchdog is a thread of its own that sees it, says which step it was, and ends the process: the last checkpoint stands.
 */

import { Worker } from 'node:worker_threads';
import type { Watch } from '../watch.ts';

/** Runs beside the main thread; kept as text because it must not wait for anything that the main thread does. */
const SOURCE = `
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const beats = new Int32Array(workerData.shared, 0, 2);
const name = new Uint8Array(workerData.shared, 8);
let seen = -1;
let since = performance.now();
setInterval(() => {
  const [beat, length] = [Atomics.load(beats, 0), Atomics.load(beats, 1)];
  if (beat !== seen || length === 0) { seen = beat; since = performance.now(); return; }
  const stuckMs = performance.now() - since;
  if (stuckMs < workerData.limitMs) return;
  const what = Buffer.from(name.slice(0, length)).toString();
  writeSync(2, '\\nenvironment-hangs: ' + what + ' has not returned for ' + (stuckMs / 1000).toFixed(1) +
    ' s and blocks the whole process, which is ended now. ' + workerData.next + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, Math.min(500, workerData.limitMs / 4));
`;

const NAME_BYTES = 256;

export interface Watchdog {
  readonly watch: Watch;
  close(): Promise<unknown>;
}

/** A thread may stand still for so long because the machine is busy, whatever the deadline of a turn. */
const SHORTEST_MS = 2000;

/**
 * @param deadlineMs of a turn; a call that blocks the process for longer ends it, but none that takes less than two seconds
 * @param next what a person should do, printed when the process is ended
 */
export function startWatchdog(deadlineMs: number, next: string): Watchdog {
  const limitMs = Math.max(deadlineMs, SHORTEST_MS);
  const shared = new SharedArrayBuffer(8 + NAME_BYTES);
  const beats = new Int32Array(shared, 0, 2);
  const name = Buffer.from(shared, 8);
  // Without the flags of this process: one such as --input-type would make the source something else.
  const worker = new Worker(SOURCE, { eval: true, execArgv: [], workerData: { shared, limitMs, next } });
  worker.unref();
  return {
    watch: (what, work) => {
      const length = name.write(what);
      Atomics.add(beats, 0, 1);
      Atomics.store(beats, 1, length);
      try {
        return work();
      } finally {
        Atomics.store(beats, 1, 0);
      }
    },
    close: () => worker.terminate(),
  };
}
