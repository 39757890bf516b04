/** Sums over the elements that belong to one segment. */

import { sameShape, shapeMismatch } from '../dimension.ts';
import type { Tensor } from '../tensor.ts';
import { gatherRows, scatterRows } from './gather.ts';
import { reshape } from './shape.ts';

/**
 * For every element of `x` [N], the sum of the elements with an equal segment [N], int64 numbers below N: every element of a
 * segment gets the same sum, and segments need not be contiguous. The order of addition is that of the elements.
 */
export function segmentSum(x: Tensor, segments: Tensor): Tensor {
  const [N] = x.shape;
  if (x.shape.length !== 1 || !sameShape(x.shape, segments.shape))
    throw shapeMismatch('segmentSum', [x.shape, segments.shape], 'values and segments of one shape [N]');
  const sums = scatterRows(reshape(x, [N!, 1]), segments, N!);
  return reshape(gatherRows(sums, segments), [N!]);
}
