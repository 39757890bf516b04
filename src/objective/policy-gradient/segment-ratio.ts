/** Probability ratios of whole segments: the trained targets of a row together, or those of each of its turns. */

import { divide, maximum, minimum, multiply } from '../../graph/operators/elementwise.ts';
import { segmentSum } from '../../graph/operators/segment.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { SegmentLevel, TokenTensors } from '../contract/objective.ts';
import { logRatio } from '../regularizer/kl.ts';
import { trainedMask } from './surrogate.ts';

const longestSum = 20;

/**
 * At every trained target, the sum or mean of the log-ratios of the trained targets of its segment, and how many there
 * are; 0 elsewhere. Reads `oldLogprobs`. Sums are kept within ±20, so that their exponential is finite.
 */
export function segmentLogRatio(
  tokens: TokenTensors,
  level: SegmentLevel,
  reduction: 'sum' | 'mean',
): { readonly logRatio: Tensor; readonly count: Tensor } {
  const trained = trainedMask(tokens);
  const segments = tokens.segments(level);
  const x = multiply(logRatio(tokens.logprobs, tokens.channel('oldLogprobs')), trained);
  const count = multiply(segmentSum(trained, segments), trained);
  const sums = multiply(segmentSum(x, segments), trained);
  const reduced = reduction === 'mean' ? divide(sums, maximum(count, 1)) : sums;
  return { logRatio: minimum(maximum(reduced, -longestSum), longestSum), count };
}
