/** Which rows of a batch are fed to the model together. */

export interface CallLimits {
  /** Longest piece of a prompt that is fed in one call, so that long prompts do not hold up the others. */
  readonly chunkTokens: number;
  /** Most tokens of one call, padding included. */
  readonly callTokens: number;
}

/**
 * Divides rows into calls: rows with similar numbers of new tokens go together while padding stays small, since a call
 * has a fixed cost and padding costs as much as real tokens. Every row is in exactly one call.
 */
export function planCalls(pending_B: readonly number[], { chunkTokens, callTokens }: CallLimits): number[][] {
  const lengths = pending_B.map((count) => Math.min(count, chunkTokens));
  const order = lengths.map((_, index) => index).sort((a, b) => lengths[b]! - lengths[a]! || a - b);
  const calls: number[][] = [];
  let longest = 0;
  let waste = 0;
  for (const index of order) {
    const call = calls.at(-1);
    const padding = longest - lengths[index]!;
    const tokens = longest * ((call?.length ?? 0) + 1);
    if (call !== undefined && tokens <= callTokens && waste + padding <= Math.max(16, tokens / 4)) {
      call.push(index);
      waste += padding;
    } else {
      calls.push([index]);
      longest = lengths[index]!;
      waste = 0;
    }
  }
  return calls;
}
