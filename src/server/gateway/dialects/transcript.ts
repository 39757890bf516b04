/** The messages of a conversation, put together from whatever a dialect splits them into. */

import type { JsonObject } from '../../../core/json/json.ts';
import { jsonProblem } from '../../../core/json/json-limits.ts';
import type { Message, ToolCall } from '../../../core/messages.ts';
import type { ChatCall } from '../call-request.ts';
import type { Reading } from './dialect.ts';

/** What a client says an assistant said. */
export interface SaidTurn {
  readonly content: string;
  readonly reasoning: string;
  /** Arguments as text, or already read. */
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: string | JsonObject;
  }[];
  /** Which answer it is. */
  readonly ref?: string | undefined;
}

export class Transcript {
  readonly messages: Message[] = [];
  readonly refs: Map<number, string> = new Map();
  readonly #reading: Reading;
  /** Calls without an output so far. */
  #open: readonly string[] = [];

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** A message that is not the assistant's. Outputs that never came are empty. */
  add(message: Message): void {
    if (message.role === 'tool') {
      this.#open = this.#open.filter((id) => id !== message.toolCallId);
    } else {
      for (const toolCallId of this.#open) this.messages.push({ role: 'tool', content: '', toolCallId });
      this.#open = [];
    }
    this.messages.push(message);
  }

  /** Messages as another request had them, from the one of this index on. */
  addAll({ messages, refs }: Pick<ChatCall, 'messages' | 'refs'>, from = 0): void {
    for (let index = from; index < messages.length; index++) {
      this.add(messages[index]!);
      this.#note(messages[index]!, refs.get(index));
    }
  }

  /** An answer of this session, as it was given. */
  addAnswer(message: Message, ref: string): void {
    this.add(message);
    this.#note(message, ref);
  }

  /** A call whose arguments cannot be read becomes words, so that nothing is lost. */
  say({ content, reasoning, calls, ref }: SaidTurn): void {
    const toolCalls: ToolCall[] = [];
    let words = content;
    for (const { id, name, arguments: given } of calls) {
      const read = typeof given === 'string' ? this.#arguments(id, given) : given;
      if (read) toolCalls.push({ id, name, arguments: read });
      else words = `${words} ${name}(${String(given)})`.trim();
    }
    const message: Message = {
      role: 'assistant',
      content: words,
      ...(reasoning !== '' && { reasoning }),
      ...(toolCalls.length > 0 && { toolCalls }),
    };
    this.add(message);
    this.#note(message, ref);
  }

  /** Of calls that are ours they need not even be readable. */
  #arguments(id: string, text: string): JsonObject | undefined {
    try {
      if (jsonProblem(text) !== undefined) return undefined;
      const value: unknown = JSON.parse(text === '' ? '{}' : text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
    } catch {
      // Told by the result.
    }
    return this.#reading.called(id)?.arguments;
  }

  #note({ role, toolCalls = [] }: Message, ref: string | undefined): void {
    if (role !== 'assistant') return;
    if (ref !== undefined) this.refs.set(this.messages.length - 1, ref);
    this.#open = toolCalls.map(({ id }) => id);
  }
}
