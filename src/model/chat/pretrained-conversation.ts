/** Conversations of models with a chat template: the template describes the tools that each call declares. */

import type { Json } from '../../core/json/json.ts';
import {
  type ChatRenderer,
  type ChatRendererOptions,
  type ChatRendererParts,
  chatRenderer,
} from './chat-renderer.ts';
import type {
  ConversationRenderer,
  ForcedCall,
  Reply,
  TemplateVariables,
  ToolDeclaration,
} from './conversation.ts';
import { splitReasoning } from './tool-call-text.ts';

/** Sets of tools, and of variables, whose renderers are kept: an agent has few. */
const KEPT = 64;

/** Calls can be forced where the template writes an answer with a call as it asks for one: prompt first, then the answer. */
export function pretrainedConversation(
  parts: ChatRendererParts,
  options: Omit<ChatRendererOptions, 'tools' | 'translateToolCalls'>,
): ConversationRenderer {
  const plain = chatRenderer(parts, options);
  const renderers = new Map<string, ChatRenderer>();
  const rendererOf = (tools: readonly ToolDeclaration[], own: TemplateVariables = {}): ChatRenderer => {
    const changed = Object.keys(own).length > 0;
    if (tools.length === 0 && !changed) return plain;
    const key = JSON.stringify([tools, own]);
    const known = renderers.get(key);
    if (known) return known;
    const declared = tools.map((tool) => ({ type: 'function', function: tool as unknown as Json }));
    const made = chatRenderer(parts, {
      ...options,
      ...(declared.length > 0 && { tools: declared }),
      ...(changed && { variables: { ...options.variables, ...own } }),
    });
    if (renderers.size >= KEPT) renderers.clear();
    renderers.set(key, made);
    return made;
  };
  const beginCall = forcedBeginning(parts, options.variables);
  return {
    ...plain,
    next: (history, fresh, tools, variables) => rendererOf(tools, variables).prompt(history, fresh),
    textIds: (text) => parts.tokenizer.encode(text),
    ...(beginCall && { forcedIds: (call) => parts.tokenizer.encode(beginCall(call)) }),
    read: (text, tools) => readReply(text, tools, plain),
  };
}

/** A call of an unknown tool, or one that cannot be read, stays content, as it does for small models. */
function readReply(text: string, tools: readonly ToolDeclaration[], renderer: ChatRenderer): Reply {
  const { reasoning, rest } = splitReasoning(text);
  const thought = reasoning ? { reasoning } : {};
  const asText = (problem?: string): Reply => ({
    content: rest,
    ...thought,
    toolCalls: [],
    ...(problem !== undefined && { problem }),
  });
  if (tools.length === 0) return asText();
  const { content, toolCalls = [] } = renderer.read(text);
  const stranger = toolCalls.find(({ name }) => !tools.some((known) => known.name === name));
  if (stranger) return asText(`there is no tool "${stranger.name}"`);
  if (content.includes('<tool_call>')) return asText('a tool call that cannot be read');
  return {
    content,
    ...thought,
    toolCalls: toolCalls.map(({ name, arguments: given }) => ({ name, arguments: given })),
  };
}

/** Words that no template would change or write itself. */
const QUESTION = 'turnwisequestion';
const TOOL = 'turnwisetool';

/** How an answer begins that calls a tool, found by rendering one. */
function forcedBeginning(
  { template }: ChatRendererParts,
  variables: ChatRendererOptions['variables'] = {},
): ((call: ForcedCall) => string) | undefined {
  const question = { role: 'user', content: QUESTION };
  const call = { type: 'function', id: 'call_0', function: { name: TOOL, arguments: {} } };
  let prompt: string;
  let answered: string;
  try {
    prompt = template.render([question], { addGenerationPrompt: true, variables });
    answered = template.render([question, { role: 'assistant', content: '', tool_calls: [call] }], {
      addGenerationPrompt: false,
      variables,
    });
  } catch {
    // A family without calls.
    return undefined;
  }
  const [before, after] = answered.slice(prompt.length).split(TOOL);
  const toArguments = after?.indexOf('{}') ?? -1;
  if (!answered.startsWith(prompt) || before === undefined || after === undefined || toArguments < 0) {
    return undefined;
  }
  return ({ name }) => (name === undefined ? before : `${before}${name}${after.slice(0, toArguments)}`);
}
