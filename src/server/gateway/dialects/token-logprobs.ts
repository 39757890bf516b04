/** Log-probabilities of sampled tokens, and of the likeliest in their place, as both of OpenAI's dialects list them. */

import type { ToldToken } from '../chat-model.ts';

export function tokenLogprobs(told: readonly ToldToken[]): object[] {
  return told.map(({ top = [], ...sampled }) => ({ ...listed(sampled), top_logprobs: top.map(listed) }));
}

const listed = ({ token, logprob }: ToldToken): object => ({
  token,
  logprob,
  bytes: [...Buffer.from(token)],
});
