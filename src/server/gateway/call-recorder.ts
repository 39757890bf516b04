/** The calls of a session as an episode keeps them: which one continues which, what is new in each, and who wrote it. */

import { createHash } from 'node:crypto';
import type { Author, Call, NewPath, Part } from '../../core/episode.ts';
import type { Facts } from '../../core/facts.ts';
import type { Message, Reply, ToolDeclaration } from '../../core/messages.ts';
import { hangOn, sharedTokens } from '../../model/chat/token-path.ts';
import type { Thread } from '../../rollout/context/thread.ts';
import type { CallRequest, ChatCall, TextCall } from './call-request.ts';
import type { ChatModel, ModelAnswer } from './chat-model.ts';
import { Conversations, toolsKey } from './conversations.ts';

/** A call, and what is needed of it to go on from it. */
export interface RecordedCall {
  readonly call: Call;
  /** Hash of everything that the policy was told so far: equal for equal states. */
  readonly anchor: string;
  readonly model: string;
  /** What its context lets credit know of it. */
  readonly facts?: Facts;
  /** Its prompt and completion; empty where there are no ids. */
  readonly path: Int32Array;
  /** Its conversation, up to it; of chats. */
  readonly thread?: Thread;
  /** What its conversation was told besides requests. */
  readonly said?: readonly Message[];
  /** The client knows nothing of it: its context asked for it, or answered to it. */
  readonly hidden?: true;
  /** Of text calls whose prompt was text: prompt and completion. */
  readonly written?: string;
}

/** What a prompt goes on from, and what it renders where that is not what its parent says and what is new. */
export interface Origin {
  readonly parent?: number;
  /** The tokens up to its end. */
  readonly path?: Int32Array;
  readonly change: NewPath | undefined;
  readonly messages: readonly Message[];
  readonly parts?: readonly Part[];
  readonly tools?: readonly ToolDeclaration[];
}

/** Where a request stands among those before it. */
export interface Placement {
  readonly parent: RecordedCall | undefined;
  readonly change: NewPath | undefined;
  /** Messages that are new since the parent. */
  readonly fresh: readonly Message[];
  /** The call with whose tokens the prompt begins, and the messages after it; or the text, for text calls. */
  readonly base: RecordedCall | undefined;
  readonly rest: readonly Message[];
  readonly restText: string;
  /** What its conversation is told besides the request, now included. */
  readonly said: readonly Message[];
  /** Names what was asked. */
  readonly key: string;
  readonly anchor: string;
}

/** One answered choice: the record, and what the client is given. */
export interface AnsweredChoice {
  readonly call: Call;
  readonly answer: ModelAnswer;
  /** As the client reads it, with ids for the calls. */
  readonly message: Message;
  /** What the ids end in that its client is given. */
  readonly ref: string;
}

/** A completion that was asked for. */
export interface Asked {
  readonly id: number;
  readonly conversation: string;
}

export interface CallTimes {
  readonly at: number;
  readonly waitMs: number;
  readonly policyMs: number;
}

export class CallRecorder {
  readonly tools: Record<string, readonly ToolDeclaration[]> = {};
  readonly #name: string;
  readonly #onKept: (call: Call) => void;
  readonly #calls: RecordedCall[] = [];
  readonly #paths: Map<number, Int32Array> = new Map();
  /** Of each model its own: what others said is foreign words to it. */
  readonly #conversations: Map<string, Conversations<RecordedCall>> = new Map();
  readonly #continued: Set<RecordedCall> = new Set();
  readonly #names: string[] = [];
  #asked = 0;

  /**
   * @param name begins the names of all conversations
   * @param onKept told of each call that is kept
   */
  constructor(name: string, onKept: (call: Call) => void = () => {}) {
    this.#name = name;
    this.#onKept = onKept;
  }

  /** In the order of asking. A call that failed leaves its number out. */
  get calls(): readonly RecordedCall[] {
    return [...this.#calls].sort((a, b) => a.call.id - b.call.id);
  }

  /** Names of all conversations. */
  get conversations(): readonly string[] {
    return this.#names;
  }

  /** @param besides what the model reads after the messages of a chat, now and in all that goes on from it */
  place(request: CallRequest, { name }: ChatModel, besides: readonly Message[] = []): Placement {
    if (request.kind === 'text') return this.#placeText(request, name);
    const found = this.#conversationsOf(name).find(request.messages, request.tools, request.refs);
    const said = [...(found.base?.said ?? []), ...besides];
    if (said.length === 0) return { ...found, said, restText: '', anchor: found.key.slice(0, 16) };
    const rest = [...found.rest, ...besides];
    return {
      ...found,
      rest,
      // Equal lists stay one list: an edited conversation is told apart by it.
      fresh: found.fresh === found.rest ? rest : [...found.fresh, ...besides],
      said,
      restText: '',
      anchor: sha256(found.key + said.map((message) => JSON.stringify(message)).join('\n')).slice(0, 16),
    };
  }

  /** The conversations of a request's choices. */
  conversationsFor({ parent }: Placement, choices: number): string[] {
    return Array.from({ length: choices }, () => this.#conversationFor(parent));
  }

  /** Give out the number of a completion, before it is sampled. */
  ask(conversation: string): Asked {
    return { id: this.#asked++, conversation };
  }

  /** The call as it is recorded, whoever is told of it. */
  callOf(
    { parent, path, change, messages, parts, tools }: Origin,
    asked: Asked,
    answer: ModelAnswer,
    said: { readonly reply: Reply; readonly problem: string | undefined },
    about: CallTimes & Pick<Call, 'role' | 'purpose' | 'trainable'> & { readonly by: Author },
  ): Call {
    return {
      ...asked,
      ...(parent !== undefined && { parent }),
      ...hangOn(path, answer.promptIds, change),
      role: about.role,
      by: about.by,
      purpose: about.purpose,
      sampling: answer.sampling,
      ids: answer.ids,
      logprobs: answer.logprobs,
      ...(answer.entropy !== undefined && { entropy: answer.entropy }),
      messages,
      ...(parts && { parts }),
      ...(tools && tools.length > 0 && { tools: this.#declare(tools) }),
      text: answer.text,
      reply: said.reply,
      ...(said.problem !== undefined && { problem: said.problem }),
      finish: about.trainable === 'scripted' ? 'none' : answer.finish,
      trainable: about.trainable,
      at: about.at,
      waitMs: about.waitMs,
      policyMs: about.policyMs,
    };
  }

  keep(recorded: RecordedCall): void {
    this.#calls.push(recorded);
    this.#paths.set(recorded.call.id, recorded.path);
    this.#onKept(recorded.call);
  }

  /** The tokens up to the end of a call. */
  pathOf(call: number): Int32Array | undefined {
    return this.#paths.get(call);
  }

  /**
   * A chat was answered: later requests may go on from here.
   *
   * @param message as the client is given it
   * @param ref what the ids end in that it is given
   */
  answered({ messages, tools, refs }: ChatCall, message: Message, recorded: RecordedCall, ref: string): void {
    this.#conversationsOf(recorded.model).add(messages, tools, message, recorded, { refs, ref });
  }

  /** The longest call that a text prompt begins with: by its text, or where the prompt is ids by its ids. */
  #placeText({ prompt }: TextCall, model: string): Placement {
    const isText = typeof prompt === 'string';
    let parent: RecordedCall | undefined;
    let length = 0;
    for (const earlier of this.#calls) {
      if (earlier.model !== model) continue;
      const { written = '', path } = earlier;
      const begins = isText ? prompt.startsWith(written) : sharedTokens(prompt, path) === path.length;
      const reach = isText ? written.length : path.length;
      if (begins && reach > 0 && reach >= length) [parent, length] = [earlier, reach];
    }
    const key = isText ? prompt : prompt.join(' ');
    const fresh = isText ? prompt.slice(length) : prompt.slice(length).join(' ');
    const messages: Message[] = [{ role: 'user', content: fresh }];
    const anchor = sha256(key).slice(0, 16);
    const restText = isText ? fresh : '';
    return {
      parent,
      change: undefined,
      fresh: messages,
      base: parent,
      rest: messages,
      said: [],
      restText,
      key,
      anchor,
    };
  }

  #conversationsOf(model: string): Conversations<RecordedCall> {
    const known = this.#conversations.get(model) ?? new Conversations<RecordedCall>();
    this.#conversations.set(model, known);
    return known;
  }

  /** The first call that goes on from another shares its conversation, and so its cache; others have their own. */
  #conversationFor(parent: RecordedCall | undefined): string {
    if (parent && !this.#continued.has(parent)) {
      this.#continued.add(parent);
      return parent.call.conversation;
    }
    const name = `${this.#name}/${this.#names.length}`;
    this.#names.push(name);
    return name;
  }

  #declare(tools: readonly ToolDeclaration[]): string {
    const key = toolsKey(tools).slice(0, 12);
    this.tools[key] ??= tools;
    return key;
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
