/** What answers the calls of a session: the policy, a scripted teacher, or a server elsewhere. */

import type { Author, Sampling, Untrainable } from '../../core/episode.ts';
import type { Message, Reply } from '../../core/messages.ts';
import type { History } from '../../model/chat/renderer.ts';
import type { CallRequest } from './call-request.ts';

/** What a prompt is made of. */
export interface PromptOf {
  readonly call: CallRequest;
  /** What was seen and said before, in the conversation that this call continues; empty where it begins one. */
  readonly history: History;
  /** Messages after it. */
  readonly fresh: readonly Message[];
  /** The text after it, for text calls. */
  readonly freshText: string;
}

export interface ModelRequest extends PromptOf {
  /** Names the conversation, so that a cache can be kept. */
  readonly conversation: string;
  /** Names the randomness of this completion: no other one has it. */
  readonly seedKey: string;
  /** Names what was asked: equal for equal requests, in whatever session. */
  readonly contentKey: string;
  readonly signal: AbortSignal;
}

/** A token as text, for clients that ask for log-probabilities. */
export interface ToldToken {
  readonly token: string;
  readonly logprob: number;
  /** The likeliest in its place, most probable first, where they were asked for. */
  readonly top?: readonly ToldToken[];
}

/** Of models that keep none. */
export const NO_HISTORY: History = { ids: [], messages: [] };

export interface ModelAnswer {
  readonly reply: Reply;
  /** The completion as the model wrote it, calls included. */
  readonly text: string;
  readonly finish: 'stop' | 'length';
  /** The string of `stop` that ended it. */
  readonly stoppedBy?: string;
  /** Empty where the model does not tell. */
  readonly promptIds: Int32Array;
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
  /** What a call that continues this one is given back. */
  readonly history: History;
  readonly tokens: { readonly prompt: number; readonly completion: number };
  /** The sampled tokens, where they were asked for. */
  readonly told?: readonly ToldToken[];
  /** How it was sampled. */
  readonly sampling: Sampling;
  readonly untrainable?: Untrainable;
}

export interface ChatModel {
  /** The name that clients ask for. */
  readonly name: string;
  /** It samples as it is configured, whatever a request says of it: in training, or where a teacher answers. */
  readonly samplesAsConfigured?: boolean;
  readonly version: number;
  /** Who writes its answers. */
  readonly author: Pick<Author, 'kind' | 'name'>;
  /** @throws ApiError for requests that cannot be answered; anything else is a failure of the model */
  answer(request: ModelRequest): Promise<ModelAnswer>;
  /** Tokens of the prompt, where the model can tell without sampling. @throws ApiError */
  promptTokens?(request: PromptOf): number;
  /** These conversations are over. */
  release?(conversations: readonly string[]): void;
}
