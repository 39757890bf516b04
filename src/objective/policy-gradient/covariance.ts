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

/** A trained target of the step. */
export interface StepToken {
  /** Its index among the targets. */
  readonly target: number;
  readonly advantage: number;
  readonly logprob: number;
  readonly oldLogprob: number;
}

/** Every target with a weight. */
export function trainedTokens({
  row_N,
  position_N,
  channels: { weight, advantages, oldLogprobs },
  logprobs_N,
}: StepView): StepToken[] {
  const tokens: StepToken[] = [];
  for (const [target, share] of weight!.entries()) {
    if (share === 0) continue;
    const place = `token ${position_N[target]} of row ${row_N[target]}`;
    tokens.push({
      target,
      advantage: finiteInput(advantages![target]!, `the advantage of ${place}`),
      logprob: finiteInput(logprobs_N[target]!, `the log-probability of ${place}`),
      oldLogprob: oldLogprobs![target]!,
    });
  }
  return tokens;
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
  { row_N }: Pick<StepView, 'row_N'>,
  tokens: readonly Pick<StepToken, 'target'>[],
  base: number,
  value: number,
): Float32Array {
  const marked = new Float32Array(row_N.length).fill(base);
  for (const { target } of tokens) marked[target] = value;
  return marked;
}
