/** Finds the completion that a request continues, by comparing messages: nothing is ever decoded or encoded for it. */

import { createHash, type Hash } from 'node:crypto';
import { canonicalJson, type Json } from '../../core/json.ts';
import type { Message } from '../../core/messages.ts';
import type { ToolDeclaration } from '../../model/conversation.ts';

export interface Continuation<Entry> {
  /** The latest completion that the request's messages begin with. */
  readonly previous: Entry | undefined;
  /** The messages after it: all of them where nothing is continued. */
  readonly fresh: readonly Message[];
  /** Where the policy answered, the client now says that it said something else. */
  readonly edited: boolean;
  /** Hash of the whole request. */
  readonly key: string;
}

export class Conversations<Entry> {
  /** By the hash of a request and its answer. Equal answers to equal requests are kept in order. */
  readonly #answers: Map<string, Entry[]> = new Map();
  readonly #requests: Set<string> = new Set();

  find(messages: readonly Message[], tools: readonly ToolDeclaration[]): Continuation<Entry> {
    const hash = opening(tools);
    let previous: Entry | undefined;
    let freshFrom = 0;
    let edited = false;
    let before = hash.copy().digest('hex');
    for (const [index, message] of messages.entries()) {
      hash.update(textOf(message));
      const key = hash.copy().digest('hex');
      if (message.role === 'assistant') {
        const answer = this.#take(key, message);
        if (answer !== undefined) {
          previous = answer;
          freshFrom = index + 1;
        } else if (this.#requests.has(before)) {
          edited = true;
        } else if (previous !== undefined) {
          // Something that the policy never said follows something that it did.
          edited = true;
        }
      }
      before = key;
    }
    if (edited) return { previous: undefined, fresh: messages, edited, key: before };
    return { previous, fresh: messages.slice(freshFrom), edited, key: before };
  }

  /** Remember that this request was answered so. `answer` is the message as the client was given it. */
  add(request: readonly Message[], tools: readonly ToolDeclaration[], answer: Message, entry: Entry): void {
    const hash = opening(tools);
    for (const message of request) hash.update(textOf(message));
    this.#requests.add(hash.copy().digest('hex'));
    const key = hash.update(textOf(answer)).digest('hex');
    const entries = this.#answers.get(key);
    if (entries) entries.push(entry);
    else this.#answers.set(key, [entry]);
    for (const id of idsOf(answer)) this.#byCallId.set(id, entry);
  }

  readonly #byCallId: Map<string, Entry> = new Map();

  /** Of equal answers the one whose tool calls have the ids that came back; the first one where there are no calls. */
  #take(key: string, message: Message): Entry | undefined {
    const entries = this.#answers.get(key);
    if (entries === undefined) return undefined;
    for (const id of idsOf(message)) {
      const named = this.#byCallId.get(id);
      if (named !== undefined && entries.includes(named)) return named;
    }
    return entries[0];
  }
}

const idsOf = ({ toolCalls = [] }: Message): string[] => toolCalls.map(({ id }) => id);

function opening(tools: readonly ToolDeclaration[]): Hash {
  return createHash('sha256').update(canonicalJson(tools as unknown as Json));
}

/** Ids of calls are left out: they are the gateway’s own, and say nothing. So is white space at the ends, which clients trim. */
function textOf({ role, content, toolCalls = [] }: Message): string {
  const calls = toolCalls.map(({ name, arguments: given }) => ({ name, arguments: given }));
  return `${canonicalJson({ role, content: content.trim(), toolCalls: calls })}\n`;
}
