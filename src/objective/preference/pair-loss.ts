/** What losses over preference pairs share: a loss of the margin between two sequences, averaged over the pairs. */

import type { StepView } from '../contract/objective.ts';
import type { SequenceLoss, SequenceScore } from '../contract/sequence-loss.ts';

/** The loss of a pair and its derivative by the margin, which is the score of the first minus that of the second. */
export type MarginLoss = (
  margin: number,
  first: SequenceScore,
  second: SequenceScore,
) => { readonly loss: number; readonly slope: number };

/** Mean over the pairs of the step, plus `likelihood` times the mean negative log-likelihood of the first's tokens. */
export function pairLoss(
  sequences: readonly SequenceScore[],
  { pairs }: StepView,
  marginLoss: MarginLoss,
  likelihood = 0,
): SequenceLoss {
  const gradients = sequences.map(() => 0);
  let [total, accuracy, margins] = [0, 0, 0];
  for (const [first, second] of pairs) {
    const [a, b] = [sequences[first]!, sequences[second]!];
    const margin = a.score - b.score;
    const { loss, slope } = marginLoss(margin, a, b);
    // Per token of the first sequence, which may have none.
    const perToken = a.tokens > 0 ? likelihood / a.tokens : 0;
    total += loss - perToken * a.logprob;
    gradients[first]! += (slope - perToken) / pairs.length;
    gradients[second]! -= slope / pairs.length;
    accuracy += margin > 0 ? 1 : margin === 0 ? 0.5 : 0;
    margins += margin;
  }
  return {
    loss: total / pairs.length,
    gradients,
    metrics: { 'preference/accuracy': accuracy / pairs.length, 'preference/margin': margins / pairs.length },
  };
}
