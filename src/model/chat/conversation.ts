/** What a gateway needs of a renderer: forced beginnings, and plain text. */

import type { Renderer } from './renderer.ts';

export type { Reply, ToolDeclaration } from '../../core/messages.ts';
export type { TemplateVariables } from './renderer.ts';

/** A call that the policy must make: of any tool, or of the one named. */
export interface ForcedCall {
  readonly name?: string;
}

/** How a call of a tool is written. */
export interface CallForm {
  /** Up to the tool's name. */
  readonly before: string;
  /** From there to the arguments, a JSON object. */
  readonly between: string;
  /** After them, up to the end of the turn. */
  readonly after: string;
}

export interface ConversationRenderer extends Renderer {
  /** Absent where the renderer knows none, or calls are not JSON. */
  readonly callForm?: CallForm;
  /** Ids with which a forced call begins: context, not sampled. Absent where the renderer cannot force calls. */
  forcedIds?(call: ForcedCall): number[];
  /** Plain text as ids, without any marks. */
  textIds(text: string): number[];
}
