/**
 * How much each trained token of a step drives the entropy down: the covariance of its log-probability with its advantage.
 *
 *   cov_t = (A_t - mean A) · (log π_t - mean log π), means over the trained tokens of the step
 *
 * Source: arXiv 2505.22617. It is taken once over the whole step, under the weights before it: a choice of tokens within
 * micro-batches would depend on how the step is cut.
 */

import type { StepView } from '../contract/objective.ts';
import { finiteInput } from '../contract/step-input.ts';

/** A trained token of the step. */
export interface StepToken {
  readonly row: number;
  readonly token: number;
  readonly advantage: number;
  readonly logprob: number;
  readonly oldLogprob: number;
}

/** Every token with a weight, in the order of the rows. */
export function trainedTokens({ channels_B, logprobs_B_T }: StepView): StepToken[] {
  return channels_B.flatMap(({ weight, advantages, oldLogprobs }, row) =>
    [...weight!.entries()].flatMap(([token, share]) =>
      share === 0
        ? []
        : [
            {
              row,
              token,
              advantage: finiteInput(advantages![token]!, `the advantage of token ${token} of row ${row}`),
              logprob: finiteInput(
                logprobs_B_T[row]![token]!,
                `the log-probability of token ${token} of row ${row}`,
              ),
              oldLogprob: oldLogprobs![token]!,
            },
          ],
    ),
  );
}

/** The product of both deviations from the mean, for each token. */
export function covariances(tokens: readonly Pick<StepToken, 'advantage' | 'logprob'>[]): number[] {
  const meanOf = (values: readonly number[]): number =>
    values.reduce((total, value) => total + value, 0) / Math.max(1, values.length);
  const advantage = meanOf(tokens.map((token) => token.advantage));
  const logprob = meanOf(tokens.map((token) => token.logprob));
  return tokens.map((token) => (token.advantage - advantage) * (token.logprob - logprob));
}

/** A channel of the step that is `base` everywhere and `value` at some tokens. */
export function markTokens(
  { channels_B }: StepView,
  tokens: readonly StepToken[],
  base: number,
  value: number,
): Float32Array[] {
  const marked = channels_B.map(({ weight }) => new Float32Array(weight!.length).fill(base));
  for (const { row, token } of tokens) marked[row]![token] = value;
  return marked;
}
