/** Conversations of models with a chat template: the template describes the tools that each call declares. */

import type { Json } from '../core/json.ts';
import {
  type ChatRenderer,
  type ChatRendererOptions,
  type ChatRendererParts,
  chatRenderer,
} from './chat-renderer.ts';
import type { ConversationRenderer, ToolDeclaration } from './conversation.ts';

/** Sets of tools whose renderers are kept: an agent has few. */
const KEPT = 64;

/** Calls cannot be forced: every family begins them in its own way. */
export function pretrainedConversation(
  parts: ChatRendererParts,
  options: Omit<ChatRendererOptions, 'tools' | 'translateToolCalls'>,
): ConversationRenderer {
  const plain = chatRenderer(parts, options);
  const byTools = new Map<string, ChatRenderer>();
  const withTools = (tools: readonly ToolDeclaration[]): ChatRenderer => {
    if (tools.length === 0) return plain;
    const key = JSON.stringify(tools);
    const known = byTools.get(key);
    if (known) return known;
    const declared = tools.map((tool) => ({ type: 'function', function: tool as unknown as Json }));
    const made = chatRenderer(parts, { ...options, tools: declared });
    if (byTools.size >= KEPT) byTools.clear();
    byTools.set(key, made);
    return made;
  };
  return {
    ...plain,
    next: (history, fresh, tools) => withTools(tools).prompt(history, fresh),
    textIds: (text) => parts.tokenizer.encode(text),
    read: (text) => {
      const { content, toolCalls = [] } = plain.read(text);
      return {
        content,
        toolCalls: toolCalls.map(({ name, arguments: given }) => ({ name, arguments: given })),
      };
    },
  };
}
