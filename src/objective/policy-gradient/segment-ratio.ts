/** Probability ratios of whole segments of a row: its trained tokens together, or those of each turn. */

import { divide, maximum, minimum, multiply } from '../../graph/operators/elementwise.ts';
import { segmentSum } from '../../graph/operators/segment.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { TokenTensors } from '../contract/objective.ts';
import { logRatio } from '../regularizer/kl.ts';
import { trainedMask } from './surrogate.ts';

export type SegmentLevel = 'sequence' | 'turn';

/** The channels that `segmentLogRatio` reads. `turns` numbers the turn of every trained token, from 1. */
export function segmentChannels(level: SegmentLevel): string[] {
  return level === 'turn' ? ['oldLogprobs', 'turns'] : ['oldLogprobs'];
}

const longestSum = 20;

/**
 * At every trained token, the sum or mean of the log-ratios of the trained tokens of its segment, and how many there
 * are; 0 elsewhere. Sums are kept within ±20, so that their exponential is finite.
 */
export function segmentLogRatio(
  tokens: TokenTensors,
  level: SegmentLevel,
  reduction: 'sum' | 'mean',
): { readonly logRatio: Tensor; readonly count: Tensor } {
  const trained = trainedMask(tokens);
  const labels = level === 'turn' ? multiply(tokens.channel('turns'), trained) : trained;
  const x = multiply(logRatio(tokens.logprobs, tokens.channel('oldLogprobs')), trained);
  const count = multiply(segmentSum(trained, labels), trained);
  const sums = multiply(segmentSum(x, labels), trained);
  const reduced = reduction === 'mean' ? divide(sums, maximum(count, 1)) : sums;
  return { logRatio: minimum(maximum(reduced, -longestSum), longestSum), count };
}
