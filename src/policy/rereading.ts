/** A model with words of its own, among players with others: it reads each conversation anew, from its messages. */

import type { Message } from '../core/messages.ts';
import { continued, type History, type Renderer } from '../model/chat/renderer.ts';
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
        promptIds: promptOf(request.messages, renderer),
        sampling: { ...request.sampling, maxTokens: renderer.maxTurnTokens },
      });
      const none = { ids: new Int32Array(), logprobs: new Float32Array() };
      return { ...completion, ...none, text: renderer.answer(completion.text), trainable: 'other-model' };
    },
    release: (conversation) => policy.release?.(conversation),
  };
}

function promptOf(messages: readonly Message[], renderer: Renderer): readonly number[] {
  let history: History = { ids: [], messages: [] };
  let fresh: Message[] = [];
  for (const message of messages) {
    if (message.role !== 'assistant') {
      fresh.push(message);
      continue;
    }
    const text = message.content;
    const completion = { ids: renderer.completionIds(text), text };
    history = continued(renderer.prompt(history, fresh), [...history.messages, ...fresh], completion);
    fresh = [];
  }
  return renderer.prompt(history, fresh).promptIds;
}
