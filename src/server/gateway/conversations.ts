/**
 * Finds the call that a request goes on from, by comparing messages: nothing is ever decoded or encoded for it. Where the
 * client changed what was said before, says which call it went on from and what it changed.
 */

import { createHash } from 'node:crypto';
import type { NewPath } from '../../core/episode.ts';
import { canonicalJson, type Json } from '../../core/json/json.ts';
import type { Message, ToolDeclaration } from '../../core/messages.ts';

export interface Continuation<Entry> {
  /** The call that the request goes on from. Absent: a conversation of its own. */
  readonly parent: Entry | undefined;
  /** What the client changed of it. Absent: nothing, the request begins with its request and its answer. */
  readonly change: NewPath | undefined;
  /** Messages that are new since the parent. */
  readonly fresh: readonly Message[];
  /** The latest call that the request begins with, request and answer: its tokens can be kept. */
  readonly base: Entry | undefined;
  /** Messages after `base`. */
  readonly rest: readonly Message[];
  /** Hash of the whole request, tools included. */
  readonly key: string;
}

/** A request and its answer, as hashes of its messages. */
interface Answered<Entry> {
  readonly entry: Entry;
  readonly tools: string;
  readonly messages: readonly string[];
  /** What was thought before the answer. */
  readonly thought?: string;
}

type Refs = ReadonlyMap<number, string>;
const NO_REFS: Refs = new Map();

interface Read {
  readonly tools: string;
  readonly messages: readonly string[];
  /** Of the first messages, as many as the index says. */
  readonly chains: readonly string[];
  /** Ids that came with each message. */
  readonly ids: readonly (readonly string[])[];
}

export class Conversations<Entry> {
  /** By the messages of a request and its answer. Equal answers to equal requests are kept in order. */
  readonly #answers: Lists<Answered<Entry>> = new Map();
  /** By the messages of a request. */
  readonly #requests: Lists<Answered<Entry>> = new Map();
  /** By the answer alone. */
  readonly #said: Lists<Answered<Entry>> = new Map();
  /** By ids of its calls, and by what its own ends in. */
  readonly #byId: Map<string, Answered<Entry>> = new Map();

  /** @param refs which answer an assistant message is, by its index, where the client told */
  find(
    messages: readonly Message[],
    tools: readonly ToolDeclaration[],
    refs: Refs = NO_REFS,
  ): Continuation<Entry> {
    const read = this.#read(messages, tools, refs);
    let base: Answered<Entry> | undefined;
    let begins = 0;
    for (const [index, message] of messages.entries()) {
      if (message.role !== 'assistant') continue;
      const found = this.#take(read.chains[index + 1]!, read.ids[index]!, read.tools);
      if (found) [base, begins] = [found, index + 1];
    }
    const rest = messages.slice(begins);
    const common = { base: base?.entry, rest, key: keyOf(tools, messages) };
    const edited = this.#editedFrom(messages, read, begins);
    if (edited) return { ...common, ...edited };
    const change = base && base.tools !== read.tools ? 'tools-changed' : undefined;
    return { ...common, parent: base?.entry, change, fresh: rest };
  }

  /** Remember that this request was answered so. `answer` is the message as the client was given it. */
  add(
    request: readonly Message[],
    tools: readonly ToolDeclaration[],
    answer: Message,
    entry: Entry,
    { refs = NO_REFS, ref }: { readonly refs?: Refs; readonly ref?: string } = {},
  ): void {
    const own = new Map(refs);
    if (ref !== undefined) own.set(request.length, ref);
    const { messages, chains, ids, tools: declared } = this.#read([...request, answer], tools, own, true);
    const thought = answer.reasoning?.trim();
    const answered = { entry, tools: declared, messages, ...(thought !== undefined && { thought }) };
    append(this.#answers, chains.at(-1)!, answered);
    append(this.#requests, chains.at(-2)!, answered);
    append(this.#said, messages.at(-1)!, answered);
    for (const id of ids.at(-1)!) this.#byId.set(id, answered);
  }

  /**
   * The request as hashes. What an assistant thought is left out of them, since most clients leave it out; where one sends
   * other thoughts than it was given, they are part of what it says.
   */
  #read(request: readonly Message[], tools: readonly ToolDeclaration[], refs: Refs, answered = false): Read {
    const messages: string[] = [];
    const chains = [''];
    for (const [index, message] of request.entries()) {
      const said = `${message.role}:${sha256(textOf(message))}`;
      const next = sha256(`${chains.at(-1)}\n${said}`);
      const thought = message.reasoning?.trim();
      const own =
        thought === undefined ||
        (answered && index === request.length - 1) ||
        this.#answers.get(next)?.some((answer) => answer.thought === thought);
      messages.push(own ? said : `${said}:${sha256(thought!)}`);
      chains.push(own ? next : sha256(`${chains.at(-1)}\n${messages.at(-1)}`));
    }
    const ids = request.map((message, index) => {
      const ref = refs.get(index);
      return ref === undefined ? idsOf(message) : [ref, ...idsOf(message)];
    });
    return { tools: toolsKey(tools), messages, chains, ids };
  }

  /** Of equal answers the one whose ids came back; else one that was offered the same tools; else the first. */
  #take(chain: string, ids: readonly string[], tools: string): Answered<Entry> | undefined {
    const answers = this.#answers.get(chain);
    if (answers === undefined) return undefined;
    for (const id of ids) {
      const named = this.#byId.get(id);
      if (named !== undefined && answers.includes(named)) return named;
    }
    return answers.find((answer) => answer.tools === tools) ?? answers[0];
  }

  /**
   * The call whose conversation was edited into this request, where the messages from `begins` on have words of an assistant
   * and the last of them that we know of is an answer in another place, or stands where another answer was given.
   */
  #editedFrom(
    messages: readonly Message[],
    read: Read,
    begins: number,
  ): Pick<Continuation<Entry>, 'parent' | 'change' | 'fresh'> | undefined {
    for (let index = messages.length - 1; index >= begins; index--) {
      if (messages[index]!.role !== 'assistant') continue;
      const origin = this.#giverOf(index, read) ?? this.#answererOf(index, read);
      if (origin === undefined) continue;
      const known = new Set(origin.messages);
      const same = sharedLength(read.messages, origin.messages);
      const fresh = messages.filter((_, at) => at >= same && (at > index || !known.has(read.messages[at]!)));
      return { parent: origin.entry, change: this.#changeOf(read, index, origin), fresh };
    }
    return undefined;
  }

  /** Who gave this answer, before another history. Few words may have been said anywhere: more than they must agree. */
  #giverOf(index: number, read: Read): Answered<Entry> | undefined {
    const named = read.ids[index]!.flatMap((id) => this.#byId.get(id) ?? []);
    if (named.length > 0) return named.at(-1);
    let best: Answered<Entry> | undefined;
    let most = [0, 0];
    const history = read.messages.slice(0, index + 1);
    for (const answer of this.#said.get(read.messages[index]!) ?? []) {
      const after = sharedLength([...history].reverse(), [...answer.messages].reverse());
      const before = sharedLength(history, answer.messages);
      const related = after > 1 || before > systemsOf(history).length;
      // All of it stood before its question already: words of the client, such as examples.
      const given = before === history.length;
      if (!related || given || after < most[0]! || (after === most[0] && before < most[1]!)) continue;
      best = answer;
      most = [after, before];
    }
    return best;
  }

  /** Who was asked what stands before this place, and answered otherwise. */
  #answererOf(index: number, { chains, tools }: Read): Answered<Entry> | undefined {
    const asked = this.#requests.get(chains[index]!) ?? [];
    return asked.findLast((request) => request.tools === tools) ?? asked.at(-1);
  }

  #changeOf({ tools, messages, ids }: Read, index: number, origin: Answered<Entry>): NewPath {
    if (tools !== origin.tools) return 'tools-changed';
    const history = messages.slice(0, index + 1);
    if (systemsOf(history).join() !== systemsOf(origin.messages).join()) return 'system-changed';
    if (isPartOf(history, origin.messages)) return 'dropped';
    const at = sharedLength(history, origin.messages);
    const changed = history[at]!;
    const ours = this.#said.has(changed) || ids[at]!.some((id) => this.#byId.has(id));
    return changed.startsWith('assistant') && !ours ? 'foreign-words' : 'rewritten';
  }
}

type Lists<Value> = Map<string, Value[]>;

function append<Value>(lists: Lists<Value>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Names a set of declarations. */
export const toolsKey = (tools: readonly ToolDeclaration[]): string => sha256(toolsText(tools));

const toolsText = (tools: readonly ToolDeclaration[]): string => canonicalJson(tools as unknown as Json);

function keyOf(tools: readonly ToolDeclaration[], messages: readonly Message[]): string {
  const hash = createHash('sha256').update(toolsText(tools));
  for (const message of messages) hash.update(textOf(message));
  return hash.digest('hex');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const idsOf = ({ toolCalls = [] }: Message): string[] => toolCalls.map(({ id }) => id);

function systemsOf(messages: readonly string[]): readonly string[] {
  const end = messages.findIndex((message) => !message.startsWith('system'));
  return end < 0 ? messages : messages.slice(0, end);
}

function sharedLength(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Whether `whole` has all of `part`, in its order. */
function isPartOf(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const message of whole) if (part[at] === message) at++;
  return at === part.length;
}

/** Ids of calls are left out: they are the gateway’s own, and say nothing. So is white space at the ends, which clients trim. */
function textOf({ role, content, toolCalls = [] }: Message): string {
  const calls = toolCalls.map(({ name, arguments: given }) => ({ name, arguments: given }));
  return `${canonicalJson({ role, content: content.trim(), toolCalls: calls })}\n`;
}
