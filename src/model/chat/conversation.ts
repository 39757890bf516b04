/** What a gateway needs of a renderer: forced beginnings, and plain text. */

import type { Renderer } from './renderer.ts';

export type { Reply, ToolDeclaration } from '../../core/messages.ts';
export type { TemplateVariables } from './renderer.ts';

/** A call that the policy must make: of any tool, or of the one named. */
export interface ForcedCall {
  readonly name?: string;
}

export interface ConversationRenderer extends Renderer {
  /** Ids with which a forced call begins: context, not sampled. Absent where the renderer cannot force calls. */
  forcedIds?(call: ForcedCall): number[];
  /** Plain text as ids, without any marks. */
  textIds(text: string): number[];
}
