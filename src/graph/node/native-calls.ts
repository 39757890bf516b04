/**
 * Native calls of all threads, counted, so that the process ends between them. Node stops the other threads when it
 * exits; onnxruntime then fails to make the results of a call under way, throws where nothing catches, and the process
 * aborts instead of exiting.
 */

import { constants } from 'node:os';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';

/** Calls under way in all threads, and whether further ones must wait for the end of their thread. */
type Gate = Int32Array<SharedArrayBuffer>;
const UNDER_WAY = 0;
const CLOSED = 1;

const key = 'turnwise:native-calls';
/** How long a process waits for calls under way: one that was interrupted, and any other. */
const INTERRUPTED_MS = 200;
const PATIENCE_MS = 10_000;

let known: Gate | undefined;

/** To be called before a thread is started that makes native calls: it gets the gate from the thread that starts it. */
export function shareNativeCalls(): void {
  if (gate() !== undefined || !isMainThread) return;
  known = new Int32Array(new SharedArrayBuffer(8));
  setEnvironmentData(key, known.buffer);
  process.on('exit', (code) => endBetweenCalls(known!, code));
}

/** Do `call` if the process may still begin one; otherwise wait here for the end of the thread. */
export function nativeCall<T>(call: () => T): T {
  const shared = gate();
  if (shared === undefined || isMainThread) return call();
  Atomics.add(shared, UNDER_WAY, 1);
  try {
    if (Atomics.load(shared, CLOSED) === 0) return call();
  } finally {
    Atomics.sub(shared, UNDER_WAY, 1);
    Atomics.notify(shared, UNDER_WAY);
  }
  for (;;) Atomics.wait(shared, CLOSED, 1);
}

function gate(): Gate | undefined {
  if (known === undefined) {
    const buffer = getEnvironmentData(key) as unknown as SharedArrayBuffer | undefined;
    if (buffer !== undefined) known = new Int32Array(buffer);
  }
  return known;
}

/** An interrupted process ends even within a long call: by the signal itself, which a shell reports as the same code. */
function endBetweenCalls(shared: Gate, code: number): void {
  const interrupted = code === 128 + constants.signals.SIGINT && process.platform !== 'win32';
  const until = performance.now() + (interrupted ? INTERRUPTED_MS : PATIENCE_MS);
  Atomics.store(shared, CLOSED, 1);
  for (let calls = 1; calls > 0; calls = Atomics.load(shared, UNDER_WAY)) {
    if (Atomics.wait(shared, UNDER_WAY, calls, until - performance.now()) !== 'timed-out') continue;
    if (!interrupted) return;
    process.removeAllListeners('SIGINT');
    process.kill(process.pid, 'SIGINT');
  }
}
