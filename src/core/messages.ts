/** Chat messages, in the shape the field shares. */

import type { JsonObject } from './json/json.ts';

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

/** Whether it has the role and the content of a message: what others wrote is not known to. */
export function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content } = value as Record<string, unknown>;
  return ['system', 'user', 'assistant', 'tool'].includes(role as string) && typeof content === 'string';
}

/** A tool as clients declare it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: JsonObject;
}

/** What an assistant says: words, calls, or both. Calls get their ids where they are sent. */
export interface Reply {
  readonly content: string;
  /** What was thought before it, from models that think. */
  readonly reasoning?: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: JsonObject }[];
  /** What was wrong with the form, where a call could not be read: then everything stays in `content`. */
  readonly problem?: string;
}
