/** What a completion of a model with a chat template says, given the tools that it was offered. */

import type { Reply, ToolDeclaration } from '../../core/messages.ts';
import { readMessage, splitReasoning, type ToolCallForm } from './tool-call-text.ts';

/** A call of an unknown tool, or one that cannot be read, stays content, as it does for small models. */
export function readReply(text: string, tools: readonly ToolDeclaration[], form: ToolCallForm): Reply {
  const { reasoning, rest } = splitReasoning(text);
  const thought = reasoning ? { reasoning } : {};
  const asText = (problem?: string): Reply => ({
    content: rest,
    ...thought,
    toolCalls: [],
    ...(problem !== undefined && { problem }),
  });
  if (tools.length === 0) return asText();
  const { content, toolCalls = [] } = readMessage(text, form);
  const stranger = toolCalls.find(({ name }) => !tools.some((known) => known.name === name));
  if (stranger) return asText(`there is no tool "${stranger.name}"`);
  if (content.includes('<tool_call>')) return asText('a tool call that cannot be read');
  return {
    content,
    ...thought,
    toolCalls: toolCalls.map(({ name, arguments: given }) => ({ name, arguments: given })),
  };
}
