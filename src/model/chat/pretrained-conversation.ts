/** Conversations of models with a chat template: the template describes the tools that each call declares. */

import { type ChatRendererOptions, type ChatRendererParts, chatRenderer } from './chat-renderer.ts';
import type { CallForm, ConversationRenderer, ForcedCall } from './conversation.ts';

/** Calls can be forced where the template writes an answer with a call as it asks for one: prompt first, then the answer. */
export function pretrainedConversation(
  parts: ChatRendererParts,
  options: Omit<ChatRendererOptions, 'tools' | 'translateToolCalls'>,
): ConversationRenderer {
  const renderer = chatRenderer(parts, options);
  const callForm = callFormOf(parts, renderer.stopIds, options.variables);
  return {
    ...renderer,
    textIds: (text) => parts.tokenizer.encode(text),
    ...(callForm && {
      callForm,
      forcedIds: ({ name }: ForcedCall) =>
        parts.tokenizer.encode(
          name === undefined ? callForm.before : `${callForm.before}${name}${callForm.between}`,
        ),
    }),
  };
}

/** Words that no template would change or write itself. */
const QUESTION = 'turnwisequestion';
const TOOL = 'turnwisetool';

/** How an answer is written that calls a tool, found by rendering one. */
function callFormOf(
  { template, tokenizer }: ChatRendererParts,
  stopIds: readonly number[],
  variables: ChatRendererOptions['variables'] = {},
): CallForm | undefined {
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
  const [before, rest] = answered.slice(prompt.length).split(TOOL);
  const toArguments = rest?.indexOf('{}') ?? -1;
  if (!answered.startsWith(prompt) || before === undefined || rest === undefined || toArguments < 0) {
    return undefined;
  }
  const after = rest.slice(toArguments + '{}'.length);
  const ends = stopIds.map((id) => after.indexOf(tokenizer.decode([id]))).filter((at) => at >= 0);
  return {
    before,
    between: rest.slice(0, toArguments),
    after: after.slice(0, Math.min(after.length, ...ends)).trimEnd(),
  };
}
