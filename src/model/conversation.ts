/** What a conversation with tools needs of a renderer: prompts with declared tools, and what was sampled as a message. */

import type { JsonObject } from '../core/json.ts';
import type { Message } from '../core/messages.ts';
import type { History, Prompt, Renderer } from './renderer.ts';

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

/** A call that the policy must make: of any tool, or of the one named. */
export interface ForcedCall {
  readonly name?: string;
}

export interface ConversationRenderer extends Renderer {
  /** `prompt`, with tools that the model may call, where it reads declarations. */
  next(history: History, fresh: readonly Message[], tools: readonly ToolDeclaration[]): Prompt;
  /** Ids with which a forced call begins: context, not sampled. Absent where the renderer cannot force calls. */
  forcedIds?(call: ForcedCall): number[];
  /** Plain text as ids, without any marks. */
  textIds(text: string): number[];
  /** What a completion says; calls are read only where there are tools. */
  read(text: string, tools: readonly ToolDeclaration[]): Reply;
}
