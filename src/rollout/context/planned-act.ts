/** The act that a scripted player comes to by itself, as the script of a context is told of it. */

import type { ToolDeclaration } from '../../core/messages.ts';
import { writeReply } from '../../core/word-reply.ts';
import { hasToolCall } from '../../env/tool-protocol.ts';
import { type Renderer, taggedText } from '../../model/chat/renderer.ts';
import type { PlannedAct } from './strategy.ts';

/** @param text undefined where nobody knows it */
export function plannedAct(
  text: string | undefined,
  { tools = [] }: { readonly tools?: readonly ToolDeclaration[] },
  renderer: Pick<Renderer, 'read'>,
): PlannedAct | undefined {
  if (text === undefined) return undefined;
  const isTagged = hasToolCall(text);
  return {
    text,
    reply: renderer.read(text, tools),
    call: (name, given) => {
      const toolCalls = [{ id: '', name, arguments: given }];
      return isTagged
        ? taggedText({ role: 'assistant', content: '', toolCalls })
        : writeReply({ content: '', toolCalls });
    },
  };
}
