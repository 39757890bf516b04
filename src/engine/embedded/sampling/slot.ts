/** A conversation's row of the cache, and the request it is working on. */

import type { Rng } from '../../../core/rng.ts';
import type { TokenProbability } from '../../../policy/sampler.ts';
import type { SampleRequest, SampleResult } from '../../engine.ts';

export interface Slot {
  readonly conversation: string;
  row: number;
  /** Tokens whose keys and values are in the row. */
  readonly cached: number[];
  job: Job | undefined;
}

/** A request on its way. */
export interface Job {
  readonly request: SampleRequest;
  readonly rng: Rng;
  readonly ids: number[];
  readonly logprobs: number[];
  /** The likeliest tokens at each place, where they were asked for. */
  readonly top: (readonly TokenProbability[])[];
  readonly resolve: (result: SampleResult) => void;
  readonly reject: (reason: unknown) => void;
}

export interface Pending {
  readonly start: number;
  readonly count: number;
}

/** Tokens of the job that are not in the cache yet. */
export function pendingOf(slot: Slot): Pending {
  const job = slot.job!;
  const start = slot.cached.length;
  return { start, count: job.request.promptIds.length + job.ids.length - start };
}

/** `count` tokens of prompt and completion from `start` on. */
export function pieceOf(job: Job, start: number, count: number): number[] {
  const prompt = job.request.promptIds;
  const piece = prompt.slice(start, start + count) as number[];
  if (piece.length < count) {
    const from = Math.max(0, start - prompt.length);
    piece.push(...job.ids.slice(from, from + count - piece.length));
  }
  return piece;
}

/** How many tokens both begin with. */
export function commonPrefix(a: readonly number[], b: readonly number[]): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length++;
  return length;
}
