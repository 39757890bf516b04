/** What a conversation with tools needs of a renderer: messages to ids, and what was sampled back to a message. */

import type { JsonObject } from '../core/json.ts';
import type { Message } from '../core/messages.ts';
import type { Renderer } from './renderer.ts';

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
  readonly toolCalls: readonly { readonly name: string; readonly arguments: JsonObject }[];
  /** What was wrong with the form, where a call could not be read: then everything stays in `content`. */
  readonly problem?: string;
}

/** A call that the policy must make: of any tool, or of the one named. */
export interface ForcedCall {
  readonly name?: string;
}

/**
 * A renderer of conversations. The prefix property is its duty: `promptIds` ends where the assistant's first token goes,
 * and whatever was sampled there, `extensionIds` only appends.
 */
export interface ChatRenderer extends Renderer {
  /** Ids of a whole conversation, tools included where the model reads them. Ends where the policy's next token goes. */
  promptIds(messages: readonly Message[], tools: readonly ToolDeclaration[]): number[];
  /** Ids to append to `ids` (a prompt and its completion, which may lack the token that ends it) for what came back. */
  extensionIds(ids: readonly number[], messages: readonly Message[]): number[];
  /** Ids with which a forced call begins: context, not sampled. Absent where the renderer cannot force calls. */
  forcedIds?(call: ForcedCall): number[];
  /** Plain text as ids, without any marks. */
  textIds(text: string): number[];
  /** What `text`, a completion, says. */
  parse(text: string, tools: readonly ToolDeclaration[]): Reply;
  /** The completion that says `reply`: `parse` reads it back, up to white space. */
  write(reply: Reply): string;
}
