/** A model with words of its own, among players with others: it reads each conversation anew, from its messages. */

import type { Message } from '../core/messages.ts';
import type { Renderer, Said } from '../model/chat/renderer.ts';
import { idsOfPrompt, promptAfter } from '../model/chat/token-path.ts';
import type { Policy, PromptPolicy } from './policy.ts';

/** Its token ids mean nothing to the run, so that only its text is recorded. */
export function rereading(policy: PromptPolicy, renderer: Renderer): Policy {
  return {
    get author() {
      return policy.author;
    },
    complete: async (request) => {
      const completion = await policy.complete({
        ...request,
        keep: 0,
        append: promptOf(request.messages, renderer),
        sampling: { ...request.sampling, maxTokens: renderer.maxTurnTokens },
      });
      const { choices: _, ...said } = completion;
      const none = { ids: new Int32Array(), logprobs: new Float32Array() };
      return { ...said, ...none, text: renderer.answer(completion.text), trainable: 'other-model' };
    },
    release: (conversation) => policy.release?.(conversation),
  };
}

/** What an assistant said is what the model would have sampled for it. */
function promptOf(messages: readonly Message[], renderer: Renderer): Int32Array {
  const said = messages.map(
    (message, id): Said =>
      message.role === 'assistant'
        ? { id, ids: renderer.completionIds(message.content), text: message.content }
        : message,
  );
  return idsOfPrompt(promptAfter([], said, renderer));
}
