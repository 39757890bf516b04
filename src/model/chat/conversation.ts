/** What a conversation with tools needs of a renderer: prompts with declared tools, and what was sampled as a message. */

import type { Message, Reply, ToolDeclaration } from '../../core/messages.ts';
import type { History, Prompt, Renderer } from './renderer.ts';

export type { Reply, ToolDeclaration } from '../../core/messages.ts';

/** A call that the policy must make: of any tool, or of the one named. */
export interface ForcedCall {
  readonly name?: string;
}

/** What a request may say of the template: whether the model is to think. */
export interface TemplateVariables {
  readonly enable_thinking?: boolean;
}

export interface ConversationRenderer extends Renderer {
  /** `prompt`, with tools that the model may call, and variables of its template, where it reads these. */
  next(
    history: History,
    fresh: readonly Message[],
    tools: readonly ToolDeclaration[],
    variables?: TemplateVariables,
  ): Prompt;
  /** Ids with which a forced call begins: context, not sampled. Absent where the renderer cannot force calls. */
  forcedIds?(call: ForcedCall): number[];
  /** Plain text as ids, without any marks. */
  textIds(text: string): number[];
  /** What a completion says; calls are read only where there are tools. */
  read(text: string, tools: readonly ToolDeclaration[]): Reply;
}
