/** What a policy needs of an engine: token ids in, sampled token ids out. */

export interface SampleRequest {
  /** Requests of one conversation share a cache: only what extends the cached prefix is prefilled. */
  readonly conversation: string;
  readonly promptIds: readonly number[];
  readonly maxTokens: number;
  /** Sampling ends with (and includes) any of these ids. */
  readonly stopIds: readonly number[];
  /** 0 is greedy. */
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  /** Names the random stream of this completion. */
  readonly seed: string;
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
  /** Log-probability of each sampled id under the untruncated distribution at the sampling temperature (at 1 when greedy). */
  readonly logprobs: Float32Array;
  readonly finish: 'stop' | 'length';
  /** The likeliest tokens at each place, most probable first, where they were asked for and the engine can tell. */
  readonly top?: readonly (readonly TokenProbability[])[];
}

export interface Sampler {
  /** Version of the published weights: what `sample` uses. */
  readonly version: number;
  sample(requests: readonly SampleRequest[]): Promise<SampleResult[]>;
  /** Forget the caches of these conversations. */
  release(conversations: readonly string[]): Promise<void>;
}
