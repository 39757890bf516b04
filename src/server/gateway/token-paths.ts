/** Paths of tokens: what a prompt shares with what the policy saw and sampled before. */

import type { Call, NewPath } from '../../core/episode.ts';

/** Prompt and completion in one. */
export function joined(prompt: Int32Array, ids: Int32Array): Int32Array {
  const path = new Int32Array(prompt.length + ids.length);
  path.set(prompt);
  path.set(ids, prompt.length);
  return path;
}

/** How many tokens both begin with. */
export function sharedTokens(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

/**
 * How a prompt hangs on its parent's path: it extends it, or keeps its beginning for a reason. Where there are no ids (a
 * scripted teacher, a black box) the messages alone decide. A prompt that was rendered anew although nothing was changed (a
 * template drops old reasoning, say) counts as rewritten.
 */
export function hangOn(
  path: Int32Array | undefined,
  prompt: Int32Array,
  change: NewPath | undefined,
): Pick<Call, 'kept' | 'newPath' | 'context'> {
  if (path === undefined) return { context: prompt };
  const kept = sharedTokens(prompt, path);
  const extended = kept === path.length && (path.length > 0 || change === undefined);
  const context = prompt.slice(kept);
  return extended ? { context } : { kept, newPath: change ?? 'rewritten', context };
}
