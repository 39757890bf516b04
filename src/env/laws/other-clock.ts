/** Another time and other `Math.random` numbers for one call, so that code which reads them is seen to. */

/** Shifts of the clock: no two calls of one process would see them. */
const SHIFT_MS = 86_400_000;

/**
 * Run the synchronous part of `call` at another time of day and with other numbers of `Math.random`. What comes after its
 * first `await` runs as ever, so nothing else in the process notices.
 *
 * @example
 * const elsewhere = inOtherChance(() => session.step('left', signal));
 */
export function inOtherChance<T>(call: () => T): T {
  const { Date: RealDate } = globalThis;
  const { random } = Math;
  const now = performance.now;
  class OtherDate extends RealDate {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [RealDate.now() + SHIFT_MS] : given) as [number]));
    }
    static override now(): number {
      return RealDate.now() + SHIFT_MS;
    }
  }
  globalThis.Date = OtherDate as DateConstructor;
  Math.random = () => 1 - random();
  performance.now = () => now.call(performance) + SHIFT_MS;
  try {
    return call();
  } finally {
    globalThis.Date = RealDate;
    Math.random = random;
    performance.now = now;
  }
}
