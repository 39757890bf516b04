/** Things that user code makes and somebody must let go of: none is lost, not even one that comes when nobody waits for it. */

import type { Boundary } from '../boundary.ts';

/**
 * What `make` gives, as `check` returns it. What comes after its deadline, or is wrong, is discarded as soon as it is there.
 *
 * @param what names the call in messages
 * @throws EpisodeEnd
 */
export async function madeBy<T>(
  what: string,
  { boundary, timeoutMs }: { readonly boundary: Boundary; readonly timeoutMs: number },
  make: (signal: AbortSignal) => unknown,
  check: (made: unknown) => T,
  discard: (made: unknown) => unknown,
): Promise<T> {
  let made: unknown;
  let abandoned = false;
  const letGo = (): Promise<void> =>
    boundary.quietly(`closing what came of ${what}`, timeoutMs, () => discard(made));
  try {
    const making = async (signal: AbortSignal): Promise<void> => {
      made = await make(signal);
      if (abandoned) await letGo();
    };
    await boundary.step('environment', what, timeoutMs, making, false);
    return boundary.call('environment', what, () => check(made));
  } catch (error) {
    abandoned = true;
    if (made !== undefined) await letGo();
    throw error;
  }
}
