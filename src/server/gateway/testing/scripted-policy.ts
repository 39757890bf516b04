/** A policy without weights, for tests: it says what it is told to say, token by token. */

import type { Author } from '../../../core/episode.ts';
import type { ConversationRenderer } from '../../../model/chat/conversation.ts';
import { CHAT_WORDS, wordChatRenderer } from '../../../model/chat/word-chat.ts';
import { WordTokenizer } from '../../../model/tokenizer/word-tokenizer.ts';
import type { PromptPolicy, PromptRequest } from '../../../policy/policy.ts';
import type { TokenProbability } from '../../../policy/sampler.ts';

export interface ScriptedTokens extends PromptPolicy {
  author: Author;
  readonly requests: PromptRequest[];
  /** What was sampled for each. */
  readonly sampled: ReadonlyMap<PromptRequest, readonly number[]>;
  /** Whether it tells of each token when it is there. */
  tells?: boolean;
  /** The likeliest tokens in every place, where they are asked for. */
  top?: readonly TokenProbability[];
}

/** The renderer of a model that knows these words. */
export function rendererOf(words: string): ConversationRenderer {
  return wordChatRenderer(WordTokenizer.fromTexts([...CHAT_WORDS, words]), 16);
}

/** Answers with `say(request)`; log-probabilities are −1, −2, … so that mixing them up shows. */
export function scriptedTokens(
  renderer: ConversationRenderer,
  say: (request: PromptRequest) => string | Promise<string>,
): ScriptedTokens {
  const requests: PromptRequest[] = [];
  const sampled = new Map<PromptRequest, readonly number[]>();
  const policy: ScriptedTokens = {
    author: { kind: 'policy', name: 'learner', version: 7 },
    requests,
    sampled,
    complete: async (request) => {
      requests.push(request);
      const text = await say(request);
      const written = renderer.completionIds(text).slice(0, request.sampling.maxTokens);
      const enough = policy.tells ? written.findIndex((id) => request.heard?.(id) === false) : -1;
      const ids = enough < 0 ? written : written.slice(0, enough + 1);
      sampled.set(request, ids);
      const stopped = enough >= 0 || renderer.stopIds.includes(ids.at(-1)!);
      return {
        ids: Int32Array.from(ids),
        logprobs: Float32Array.from(ids, (_, index) => -1 - index),
        entropy: ids.length / 4,
        text,
        finish: stopped ? 'stop' : 'length',
        by: policy.author,
        trainable: true,
        ...(request.topLogprobs !== undefined && policy.top && { top: ids.map(() => policy.top!) }),
      };
    },
  };
  return policy;
}
