/** What answers the calls of a session: the policy, a scripted teacher, or a server elsewhere. */

import type { Author, Sampling, Untrainable } from '../../core/episode.ts';
import type { Message, Reply } from '../../core/messages.ts';
import type { History } from '../../model/renderer.ts';
import type { CallRequest } from './call-request.ts';

export interface ModelRequest {
  readonly call: CallRequest;
  /** Names the conversation, so that a cache can be kept. */
  readonly conversation: string;
  /** Names the randomness of this completion: no other one has it. */
  readonly seedKey: string;
  /** Names what was asked: equal for equal requests, in whatever session. */
  readonly contentKey: string;
  /** What was seen and said before, in the conversation that this call continues; empty where it begins one. */
  readonly history: History;
  /** Messages after it. */
  readonly fresh: readonly Message[];
  /** The text after it, for text calls. */
  readonly freshText: string;
  readonly signal: AbortSignal;
}

/** Of models that keep none. */
export const NO_HISTORY: History = { ids: [], messages: [] };

export interface ModelAnswer {
  readonly reply: Reply;
  /** The completion as the model wrote it, calls included. */
  readonly text: string;
  readonly finish: 'stop' | 'length';
  /** Empty where the model does not tell. */
  readonly promptIds: Int32Array;
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
  /** What a call that continues this one is given back. */
  readonly history: History;
  readonly tokens: { readonly prompt: number; readonly completion: number };
  /** The sampled tokens as text, for clients that ask for log-probabilities. */
  readonly told?: readonly { readonly token: string; readonly logprob: number }[];
  /** How it was sampled. */
  readonly sampling: Sampling;
  readonly untrainable?: Untrainable;
}

export interface ChatModel {
  /** The name that clients ask for. */
  readonly name: string;
  readonly version: number;
  /** Who writes its answers. */
  readonly author: Pick<Author, 'kind' | 'name'>;
  /** @throws ApiError for requests that cannot be answered; anything else is a failure of the model */
  answer(request: ModelRequest): Promise<ModelAnswer>;
  /** These conversations are over. */
  release?(conversations: readonly string[]): void;
}
