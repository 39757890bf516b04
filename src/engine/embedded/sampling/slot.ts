/** A conversation's row of the cache, and the request it is working on. */

import type { Rng } from '../../../core/rng.ts';
import type { TokenList } from '../../../policy/conversations.ts';
import type { TokenProbability } from '../../../policy/sampler.ts';
import type { SampleRequest, SampleResult } from '../../engine.ts';
import type { Walk } from './walk.ts';

export interface Slot {
  readonly conversation: string;
  row: number;
  /** Of the conversation's tokens, those whose keys and values are in the row. */
  cached: number;
  job: Job | undefined;
  /** The row that reads, for a job that began earlier, what this one copies before it is fed. */
  copiesFrom?: { readonly slot: Slot; readonly job: Job } | undefined;
}

/** A completion, but for the version of the weights, which a lane does not know. */
export type Sampled = Omit<SampleResult, 'version'>;

/** A request on its way. */
export interface Job {
  readonly request: SampleRequest;
  readonly rng: Rng;
  /** Prompt and completion so far, once the job has a row. */
  tokens: TokenList;
  /** Jobs that were given a row before this one was. */
  began: number;
  /** Where it stands among its choices, or in its grammar, where it has some. */
  readonly walk?: Walk;
  readonly logprobs: number[];
  /** Of the tokens so far, summed. */
  entropy: number;
  /** The likeliest tokens at each place, where they were asked for. */
  readonly top: (readonly TokenProbability[])[];
  readonly resolve: (result: Sampled) => void;
  readonly reject: (reason: unknown) => void;
  /** Nobody wants more of it. */
  enough: boolean;
}

/** How many tokens of the job are not in the cache yet. */
export const pendingCount = ({ job, cached }: Slot): number => job!.tokens.length - cached;

/** The first of them, at most `most`. */
export const pendingOf = ({ job, cached }: Slot, most: number): Int32Array =>
  job!.tokens.slice(cached, cached + most);
