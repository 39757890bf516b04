/** What answers the calls of a session: the policy, a scripted teacher, or a server elsewhere. */

import type { Author, Role, Sampling, Untrainable } from '../../core/episode.ts';
import type { Reply } from '../../core/messages.ts';
import type { ConversationRenderer } from '../../model/chat/conversation.ts';
import type { CallRequest } from './call-request.ts';

export interface ModelRequest {
  /** What is asked; the messages of a chat are those that the model reads. */
  readonly call: CallRequest;
  /** The prompt by the model's renderer; empty where it has none. */
  readonly promptIds: Int32Array;
  /**
   * What a scripted teacher writes where no act is asked for, or in place of one; undefined where nobody knows.
   *
   * @param planned what it comes to by itself, where `plans`
   */
  readonly script?: (planned?: string) => string | undefined;
  /** Whether `script` wants to know it. */
  readonly plans?: boolean;
  /** Names the conversation, so that a cache can be kept. */
  readonly conversation: string;
  /** Names the randomness of this completion: no other one has it. */
  readonly seedKey: string;
  /** Names what was asked: equal for equal requests, in whatever session. */
  readonly contentKey: string;
  readonly signal: AbortSignal;
  /** Hears the answer while it is sampled, from models that can tell. */
  readonly live?: Live;
}

/** Some more of an answer: of its thoughts, or of its words. */
export interface Said {
  readonly reasoning?: string;
  readonly content?: string;
}

export interface Live {
  /** The first of it is there. */
  begin(promptIds: Int32Array): void;
  say(said: Said): void;
}

/** A token as text, for clients that ask for log-probabilities. */
export interface ToldToken {
  readonly token: string;
  readonly logprob: number;
  /** The likeliest in its place, most probable first, where they were asked for. */
  readonly top?: readonly ToldToken[];
}

export interface ModelAnswer {
  readonly reply: Reply;
  /** The completion as the model wrote it, calls included. */
  readonly text: string;
  readonly finish: 'stop' | 'length';
  /** The string of `stop` that ended it. */
  readonly stoppedBy?: string;
  /** With what was forced upon it. Empty where the model does not tell. */
  readonly promptIds: Int32Array;
  /** Tokens that the prompt ends in and the answer begins with: of a forced call. */
  readonly forced?: readonly number[];
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
  /** Entropies of the distributions of `logprobs`, summed, in nats, where the model can tell. */
  readonly entropy?: number;
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
  /** Which role of the episode it plays. Default: `agent`. */
  readonly role?: Role;
  /** It samples as it is configured, whatever a request says of it: in training, or where a teacher answers. */
  readonly samplesAsConfigured?: boolean;
  readonly version: number;
  /** Who writes its answers. */
  readonly author: Pick<Author, 'kind' | 'name'>;
  /** Makes its prompts, where tokens are known here. */
  readonly renderer?: ConversationRenderer;
  /** Longest prompt + completion in tokens, where it is known. */
  readonly contextLength?: number;
  /** @throws ApiError for requests that cannot be answered; anything else is a failure of the model */
  answer(request: ModelRequest): Promise<ModelAnswer>;
  /** These conversations are over. */
  release?(conversations: readonly string[]): void;
}
