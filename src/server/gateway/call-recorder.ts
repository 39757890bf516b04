/** The calls of a session as an episode keeps them: which one continues which, what is new in each, and who wrote it. */

import { createHash } from 'node:crypto';
import type { Author, Call, NewPath } from '../../core/episode.ts';
import type { Message, Reply, ToolDeclaration } from '../../core/messages.ts';
import { AGENT } from '../../env/session.ts';
import type { History } from '../../model/chat/renderer.ts';
import type { CallRequest, TextCall } from './call-request.ts';
import type { ChatModel, ModelAnswer } from './chat-model.ts';
import { Conversations, toolsKey } from './conversations.ts';
import { hangOn, joined, sharedTokens } from './token-paths.ts';

/** A call, and what is needed of it to go on from it. */
export interface RecordedCall {
  readonly call: Call;
  /** Hash of everything that the policy was told so far: equal for equal states. */
  readonly anchor: string;
  readonly model: string;
  /** Its prompt and completion; empty where there are no ids. */
  readonly path: Int32Array;
  readonly history: History;
  /** Of text calls whose prompt was text: prompt and completion. */
  readonly written?: string;
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
  /** Names what was asked. */
  readonly key: string;
  readonly anchor: string;
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
  readonly #calls: RecordedCall[] = [];
  /** Of each model its own: what others said is foreign words to it. */
  readonly #conversations: Map<string, Conversations<RecordedCall>> = new Map();
  readonly #continued: Set<RecordedCall> = new Set();
  readonly #names: string[] = [];
  #asked = 0;

  /** @param name begins the names of all conversations */
  constructor(name: string) {
    this.#name = name;
  }

  /** In the order of asking. A call that failed leaves its number out. */
  get calls(): readonly RecordedCall[] {
    return [...this.#calls].sort((a, b) => a.call.id - b.call.id);
  }

  /** Names of all conversations. */
  get conversations(): readonly string[] {
    return this.#names;
  }

  place(request: CallRequest, { name }: ChatModel): Placement {
    if (request.kind === 'text') return this.#placeText(request, name);
    const found = this.#conversationsOf(name).find(request.messages, request.tools, request.refs);
    return { ...found, restText: '', anchor: found.key.slice(0, 16) };
  }

  /** Give out the numbers of a request's choices, before any is sampled. */
  ask({ parent }: Placement, choices: number): Asked[] {
    return Array.from({ length: choices }, () => ({
      id: this.#asked++,
      conversation: this.#conversationFor(parent),
    }));
  }

  /** @param said what was made of the answer, with `message` as the client is given it, and what its ids end in */
  add(
    request: CallRequest,
    model: ChatModel,
    placed: Placement,
    asked: Asked,
    answer: ModelAnswer,
    said: {
      readonly reply: Reply;
      readonly message: Message;
      readonly problem: string | undefined;
      readonly ref: string;
    },
    about: CallTimes & Pick<Call, 'purpose' | 'trainable'> & { readonly by: Author },
  ): RecordedCall {
    const { parent } = placed;
    const hung = hangOn(parent?.path, answer.promptIds, placed.change);
    // What the prompt says is then not what its parent says and `fresh`.
    const toldAnew = hung.newPath !== undefined || parent !== placed.base;
    const call: Call = {
      ...asked,
      ...(parent && { parent: parent.call.id }),
      ...hung,
      role: AGENT,
      by: about.by,
      purpose: about.purpose,
      sampling: answer.sampling,
      ids: answer.ids,
      logprobs: answer.logprobs,
      messages: placed.fresh,
      ...(toldAnew && request.kind === 'chat' && { parts: request.messages }),
      ...(request.kind === 'chat' && request.tools.length > 0 && { tools: this.#declare(request.tools) }),
      text: answer.text,
      reply: said.reply,
      ...(said.problem !== undefined && { problem: said.problem }),
      finish: about.trainable === 'scripted' ? 'none' : answer.finish,
      trainable: about.trainable,
      at: about.at,
      waitMs: about.waitMs,
      policyMs: about.policyMs,
    };
    const recorded: RecordedCall = {
      call,
      anchor: placed.anchor,
      model: model.name,
      path: joined(answer.promptIds, answer.ids),
      history: answer.history,
      ...(request.kind === 'text' && typeof request.prompt === 'string' && answer.text !== ''
        ? { written: request.prompt + answer.text }
        : {}),
    };
    this.#calls.push(recorded);
    if (request.kind === 'chat') {
      const { messages, tools, refs } = request;
      this.#conversationsOf(model.name).add(messages, tools, said.message, recorded, { refs, ref: said.ref });
    }
    return recorded;
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
    const anchor = createHash('sha256').update(key).digest('hex').slice(0, 16);
    const restText = isText ? fresh : '';
    return {
      parent,
      change: undefined,
      fresh: messages,
      base: parent,
      rest: messages,
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
