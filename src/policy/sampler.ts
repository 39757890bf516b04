/** What a policy needs of an engine: token ids in, sampled token ids out. */

import type { Constraint, TokenTexts } from '../core/constraint.ts';
import type { Sampling } from '../core/episode.ts';

/**
 * One completion of a conversation. Its prompt is the first `keep` tokens of the conversation so far (the last prompt and
 * what was sampled after it), then `append`: a turn hands over no more than what is new.
 */
export interface SampleRequest {
  /** Names the tokens that are kept, and their cache. Unknown ones begin empty. */
  readonly conversation: string;
  /** Tokens of the conversation that the prompt begins with; 0 begins anew. */
  readonly keep: number;
  /** The tokens after them. */
  readonly append: Int32Array;
  /** A temperature of 0 is greedy. */
  readonly sampling: Sampling;
  /** Sampling ends with (and includes) any of these ids. */
  readonly stopIds: readonly number[];
  /** Names the random stream of this completion. */
  readonly seed: string;
  /**
   * Token sequences to one of which the completion is restricted, token by token along their trie. None may be the beginning
   * of another.
   */
  readonly choices?: readonly Int32Array[];
  /** The forms to which the completion is held, and what the tokens write. Not together with choices. */
  readonly constraint?: Constraint & { readonly texts: TokenTexts };
  /** Hears each id as soon as it is sampled, by engines that can tell. False: the completion ends here, or soon after. */
  readonly heard?: (id: number) => boolean;
  /** How many of the likeliest tokens to tell at each place; absent: none. */
  readonly topLogprobs?: number;
}

/** A token and its log-probability, on the same terms as those of sampled ids. */
export interface TokenProbability {
  readonly id: number;
  readonly logprob: number;
}

export interface SampleResult {
  readonly ids: Int32Array;
  /**
   * Log-probability of each sampled id under the untruncated distribution at the sampling temperature (at 1 when greedy),
   * renormalised at each token over those that `choices` or the constraint allow.
   */
  readonly logprobs: Float32Array;
  /** Entropies of the distributions of `logprobs`, summed over the completion, in nats, from engines that can tell. */
  readonly entropy?: number;
  readonly finish: 'stop' | 'length';
  /** Of the weights that sampled all of it. */
  readonly version: number;
  /** The likeliest tokens at each place, most probable first, where they were asked for and the engine can tell. */
  readonly top?: readonly (readonly TokenProbability[])[];
}

/** Samples with published weights. */
export interface Sampler {
  /** Version of the published weights: those that `sample` uses from now on. */
  readonly version: number;
  /**
   * One completion. Requests that are made together are computed together.
   *
   * @throws TurnwiseError `sample-invalid` for a request that does not fit the model or the conversation, `cancelled` for one
   * whose conversation is released before it ends, and `schema-unsupported` for a constraint that makes no grammar
   */
  sample(request: SampleRequest): Promise<SampleResult>;
  /**
   * Make the present weights those that sample. Completions under way end under the old ones; the next of each conversation
   * is read anew under the new ones. Returns the new version.
   */
  publish(): Promise<number>;
  /** Forget these conversations, and end what is still sampled in them. */
  release(conversations: readonly string[]): void;
}

/** Completions of several conversations, in the order of the requests. */
export function sampleAll<R>(
  sampler: { sample(request: SampleRequest): Promise<R> },
  requests: readonly SampleRequest[],
): Promise<R[]> {
  return Promise.all(requests.map((request) => sampler.sample(request)));
}
