/** Sums over the elements of a row that carry the same label. */

import { shapeMismatch } from '../dimension.ts';
import type { Tensor } from '../tensor.ts';
import { cast, equal } from './logic.ts';
import { matmul } from './matrix.ts';
import { reshape } from './shape.ts';

/**
 * For every element of `x` [B, T], the sum of the elements of its row with an equal `label` [B, T]: every element of a
 * segment gets the same sum, and segments need not be contiguous. A product with the [B, T, T] matrix of equal labels,
 * so its derivative is the same sum and its order of addition is fixed, unlike that of a scatter.
 */
export function segmentSum(x: Tensor, labels: Tensor): Tensor {
  const [rows, length] = x.shape;
  if (
    x.shape.length !== 2 ||
    labels.shape.length !== 2 ||
    labels.shape.some((size, i) => size !== x.shape[i])
  ) {
    throw shapeMismatch('segmentSum', [x.shape, labels.shape], 'values and labels of one shape [B, T]');
  }
  const same = equal(reshape(labels, [rows!, length!, 1]), reshape(labels, [rows!, 1, length!]));
  const sums = matmul(cast(same, 'float32'), reshape(x, [rows!, length!, 1]));
  return reshape(sums, [rows!, length!]);
}
