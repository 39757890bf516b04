/** Requests that one call can serve, and calls that are not all made at once. */

import type { SampleRequest } from '../engine.ts';

/** Indices of the requests that differ in conversation and seed only, in the order of the first of each. */
export function promptGroups(requests: readonly SampleRequest[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [index, { conversation: _conversation, seed: _seed, ...rest }] of requests.entries()) {
    const key = JSON.stringify(rest);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [index]);
    else members.push(index);
  }
  return [...groups.values()];
}

/** Does the work for every item, at most `limit` at once; after a failure no more is begun. */
export async function gather<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items].reverse();
  const worker = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      try {
        await work(item);
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
