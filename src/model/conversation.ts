/** What a conversation with tools needs of a renderer: prompts with declared tools, and what was sampled as a message. */

import type { Message, Reply, ToolDeclaration } from '../core/messages.ts';
import type { History, Prompt, Renderer } from './renderer.ts';

export type { Reply, ToolDeclaration } from '../core/messages.ts';

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
