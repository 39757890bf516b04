/** Requests that one call can serve, and calls that are not all made at once. */

import type { SampleRequest } from '../engine.ts';

/** A request, and all of its prompt. */
export interface Prompted {
  readonly request: SampleRequest;
  readonly prompt: readonly number[];
}

/** Requests that differ in conversation and seed only, in the order of the first of each. */
export function promptGroups<P extends Prompted>(requests: readonly P[]): P[][] {
  const groups = new Map<string, P[]>();
  for (const asked of requests) {
    const { sampling, stopIds } = asked.request;
    const key = JSON.stringify([asked.prompt, sampling, stopIds]);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [asked]);
    else members.push(asked);
  }
  return [...groups.values()];
}

/** Runs work as it comes, at most `limit` at once; the rest waits in line. */
export function limited(limit: number): (work: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) await new Promise<void>((go) => waiting.push(go));
    else running++;
    try {
      await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
