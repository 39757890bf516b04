/** What answers the calls of a session: the policy, a scripted teacher, or a server elsewhere. */

import type { Message } from '../../core/messages.ts';
import type { Reply } from '../../model/chat.ts';
import type { CallRequest } from './call-request.ts';
import type { RecordedCall, Untrainable } from './recorded-call.ts';

export interface ModelRequest {
  readonly call: CallRequest;
  /** Names the conversation, so that a cache can be kept. */
  readonly conversation: string;
  /** Names the randomness of this completion. */
  readonly seedKey: string;
  /** The completion that this call continues, if any. */
  readonly previous: RecordedCall | undefined;
  /** Messages after it. For a text call that continues one: none. */
  readonly fresh: readonly Message[];
  /** The text after it, for text calls. */
  readonly freshText: string;
  readonly signal: AbortSignal;
}

export interface ModelAnswer {
  readonly reply: Reply;
  /** The completion as the model wrote it, calls included. */
  readonly text: string;
  readonly finish: 'stop' | 'length';
  /** Empty where the model does not tell. */
  readonly promptIds: readonly number[];
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly tokens: { readonly prompt: number; readonly completion: number };
  /** Text of each sampled token, for clients that ask for log-probabilities. */
  readonly tokenTexts?: readonly string[];
  readonly temperature: number | undefined;
  readonly untrainable?: Untrainable;
}

export interface ChatModel {
  /** The name that clients ask for. */
  readonly name: string;
  readonly version: number;
  /** @throws ApiError for requests that cannot be answered; anything else is a failure of the model */
  answer(request: ModelRequest): Promise<ModelAnswer>;
  /** These conversations are over. */
  release?(conversations: readonly string[]): void;
}
