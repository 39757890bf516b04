/** The version of onnxruntime: runs promise equal bits with equal kernels only, so each says which ones it began with. */

import { runtimeVersion } from '../../graph/node/binding.ts';
import type { StoredEvent } from '../../train/loop/events.ts';

/** As runs record it. */
export const runtime = `onnxruntime ${runtimeVersion}`;

/** What is said of a run that goes on with other kernels than it ran with last; nothing where they are the same. */
export function runtimeWarning(
  history: readonly StoredEvent[],
  now: string = runtime,
): Extract<StoredEvent, { type: 'warning' }> | undefined {
  const before = history.findLast(
    (event) => (event.type === 'start' || event.type === 'resume') && event.runtime !== undefined,
  ) as { readonly runtime: string } | undefined;
  if (before === undefined || before.runtime === now) return undefined;
  return {
    type: 'warning',
    code: 'runtime-differs',
    message: `This run ran with ${before.runtime} and goes on with ${now}: what follows is as good, but not bit for bit what it would have been`,
  };
}
