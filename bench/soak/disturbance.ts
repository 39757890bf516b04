/** Loaded before a command: sets the clock of the process back and forth, or ends its engine's thread. */

import { isMainThread, workerData } from 'node:worker_threads';

const HOUR_MS = 3_600_000;

const { SOAK_CLOCK_EVERY_MS: jumpsEvery, SOAK_END_ENGINE_AFTER_MS: endsAfter } = process.env;
if (jumpsEvery !== undefined) setClockEvery(Number(jumpsEvery));
if (endsAfter !== undefined) endEngineAfter(Number(endsAfter));

/** An hour ahead, an hour behind, and so on. Timers run by another clock. */
function setClockEvery(everyMs: number): void {
  let offset = HOUR_MS;
  setInterval(() => {
    offset = -offset;
  }, everyMs).unref();
  const Clock = globalThis.Date;
  globalThis.Date = new Proxy(Clock, {
    construct: (target, given: [], made) =>
      Reflect.construct(target, given.length === 0 ? [Clock.now() + offset] : given, made),
    get: (target, name) => (name === 'now' ? () => Clock.now() + offset : Reflect.get(target, name)),
  });
}

/** As an error that nobody foresaw: the thread is gone, and with it all that it was asked. */
function endEngineAfter(ms: number): void {
  if (isMainThread || (workerData as { shape?: unknown } | null)?.shape === undefined) return;
  setTimeout(() => {
    throw new Error('the soak ended this thread');
  }, ms).unref();
}
