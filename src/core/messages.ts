/** Chat messages, in the shape the field shares. */

import type { JsonObject } from './json.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** What an assistant thought before `content`, where the two are known apart. */
  readonly reasoning?: string;
  readonly toolCalls?: readonly ToolCall[];
  /** On a `tool` message: the call it answers. */
  readonly toolCallId?: string;
}

export const user = (content: string): Message => ({ role: 'user', content });
export const system = (content: string): Message => ({ role: 'system', content });
export const assistant = (content: string): Message => ({ role: 'assistant', content });
