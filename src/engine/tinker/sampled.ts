/** Whether what a server sampled is what it was asked for. */

import { garbled } from '../../wire/tinker/garbled.ts';

/**
 * Servers have been seen to answer with other lengths than they were asked for.
 *
 * @throws TurnwiseError `tinker-garbled`
 */
export function checkSequences(
  sequences: readonly { readonly tokens: readonly number[]; readonly logprobs: readonly number[] }[],
  count: number,
  maxTokens: number,
): void {
  if (sequences.length !== count)
    throw garbled('another number of samples than requested', `${sequences.length} for ${count}`);
  for (const { tokens, logprobs } of sequences) {
    if (tokens.length === 0 || tokens.length > maxTokens)
      throw garbled('a sample has an impossible length', `${tokens.length} of at most ${maxTokens} tokens`);
    if (logprobs.length !== tokens.length)
      throw garbled('log-probabilities do not fit the tokens', `${logprobs.length} for ${tokens.length}`);
    const position = logprobs.findIndex((value) => !Number.isFinite(value));
    if (position >= 0)
      throw garbled('a log-probability is not finite', `${logprobs[position]} at token ${position}`);
  }
}
