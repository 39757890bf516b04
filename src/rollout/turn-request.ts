/** What a policy is asked in an episode. Its messages are made as they are read: policies that read tokens never do. */

import type { EpisodeKey, Role, Sampling } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import { assistant, type Message } from '../core/messages.ts';
import type { Session } from '../env/session.ts';
import type { Sequence } from '../model/chat/growing-list.ts';
import { isCompletion, type Said } from '../model/chat/renderer.ts';
import type { CompletionRequest } from '../policy/policy.ts';
import { listGetter } from './record/listed-getters.ts';

type Optional = 'choices' | 'constraint' | 'script' | 'plans';

/** What a completion is held to, and what a scripted player writes. */
export type Restriction = Pick<CompletionRequest, Optional>;

export class TurnRequest implements CompletionRequest {
  readonly key: EpisodeKey;
  readonly conversation: string;
  readonly seedKey: string;
  readonly keep: number;
  readonly append: Int32Array;
  readonly sampling: Sampling;
  readonly role: Role;
  readonly task: Json;
  readonly session: Session;
  readonly signal: AbortSignal;
  declare readonly messages: readonly Message[];
  declare readonly choices?: readonly string[];
  declare readonly constraint?: NonNullable<CompletionRequest['constraint']>;
  declare readonly script?: NonNullable<CompletionRequest['script']>;
  declare readonly plans?: boolean;
  readonly #said: Sequence<Said>;

  constructor(
    of: Omit<CompletionRequest, 'messages' | Optional> & { readonly said: Sequence<Said> },
    restriction: Restriction,
  ) {
    this.key = of.key;
    this.conversation = of.conversation;
    this.seedKey = of.seedKey;
    this.keep = of.keep;
    this.append = of.append;
    this.sampling = of.sampling;
    this.role = of.role;
    this.task = of.task;
    this.session = of.session;
    this.signal = of.signal;
    this.#said = of.said;
    listGetter.call(this, 'messages', messagesOf);
    Object.assign(this, restriction);
  }

  static messagesOf(request: TurnRequest): readonly Message[] {
    return Array.from(request.#said, (one) => (isCompletion(one) ? assistant(one.text) : one));
  }
}

function messagesOf(this: TurnRequest): readonly Message[] {
  return TurnRequest.messagesOf(this);
}
