/** How unsure a policy was of what it wrote. */

import { chosenTokens } from './choices.ts';
import type { Call } from './episode.ts';

type Written = Pick<Call, 'ids' | 'logprobs' | 'choices'>;

/**
 * Mean −log-probability, in nats, of the tokens that were chosen: an unbiased estimate of the entropy per token. 0 where all
 * were forced, NaN where nothing was sampled or nobody knows.
 *
 * @example
 * // At "go" | "go left": the first token is forced, the second was chosen with probability 1/2.
 * const choices = [Int32Array.of(5, 2), Int32Array.of(5, 6, 2)];
 * surpriseOf([{ ids: Int32Array.of(5, 2), logprobs: Float32Array.of(0, Math.log(0.5)), choices }]); // 0.693
 */
export function surpriseOf(calls: readonly Written[]): number {
  return perChosenToken(calls, sumOfSurprises);
}

/**
 * Mean entropy, in nats, of the distributions from which tokens were chosen; of calls whose entropy nobody told, what
 * `surpriseOf` estimates. 0 where all were forced, NaN where nothing was sampled or nobody knows.
 *
 * @example
 * // A coin that came down twice on its likelier side.
 * entropyOf([{ ids: Int32Array.of(5, 5), logprobs: Float32Array.of(Math.log(0.9), Math.log(0.9)), entropy: 0.65 }]); // 0.325
 */
export function entropyOf(calls: readonly (Written & Pick<Call, 'entropy'>)[]): number {
  return perChosenToken(calls, ({ entropy, logprobs }) => entropy ?? sumOfSurprises({ logprobs }));
}

function sumOfSurprises({ logprobs }: Pick<Call, 'logprobs'>): number {
  let sum = 0;
  for (let index = 0; index < logprobs.length; index++) sum -= logprobs[index]!;
  return sum;
}

function perChosenToken<C extends Written>(calls: readonly C[], sumOf: (call: C) => number): number {
  let known = 0;
  let sum = 0;
  let chosen = 0;
  for (const call of calls) {
    // Read once: stored calls make their arrays as they are read.
    const { ids, logprobs, choices } = call;
    if (logprobs.length === 0) continue;
    known++;
    sum += sumOf(call);
    chosen += chosenTokens(choices ? { ids, choices } : { ids });
  }
  if (known === 0) return Number.NaN;
  return chosen === 0 ? 0 : sum / chosen;
}
