/** Conversations of models with a chat template: the template describes the tools that each call declares. */

import { type ChatRendererOptions, type ChatRendererParts, chatRenderer } from './chat-renderer.ts';
import type { ConversationRenderer, ForcedCall } from './conversation.ts';

/** Calls can be forced where the template writes an answer with a call as it asks for one: prompt first, then the answer. */
export function pretrainedConversation(
  parts: ChatRendererParts,
  options: Omit<ChatRendererOptions, 'tools' | 'translateToolCalls'>,
): ConversationRenderer {
  const beginCall = forcedBeginning(parts, options.variables);
  return {
    ...chatRenderer(parts, options),
    textIds: (text) => parts.tokenizer.encode(text),
    ...(beginCall && { forcedIds: (call) => parts.tokenizer.encode(beginCall(call)) }),
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
