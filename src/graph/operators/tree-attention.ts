/** Attention over trees of tokens, with a derivative that keeps only the attention weights. */

import { product, shapeMismatch } from '../dimension.ts';
import type { Operator } from '../graph.ts';
import type { Dim, Tensor } from '../tensor.ts';
import { add, multiply, subtract } from './elementwise.ts';
import { matmul } from './matrix.ts';
import { softmax, sum } from './reduce.ts';
import { reshape } from './shape.ts';

/** The mixed values, given queries stacked over the heads that share keys, keys, values, the weights, and themselves. */
const treeAttentionOperator: Operator<{ scale: number }> = {
  name: 'treeAttention',
  infer: ([, , , , mixed]) => ({ shape: mixed!.shape, dtype: 'float32' }),
  emit: (_emission, [, , , , mixed]) => mixed!,
  backward: (gradient, { inputs, attributes: { scale } }) => {
    const [query, key, value, weights, mixed] = inputs as readonly Tensor[];
    // The row sums of weights * (gradient value^T) are those of gradient * mixed, which is smaller (arXiv:2205.14135).
    const sums = sum(multiply(gradient, mixed!), [-1], true);
    const scores = multiply(weights!, subtract(matmul(gradient, value!, { transposeB: true }), sums));
    return [
      matmul(scores, key!, { scale }),
      matmul(scores, query!, { transposeA: true, scale }),
      matmul(weights!, gradient, { transposeA: true }),
    ];
  },
};

/**
 * softmax(query key^T / sqrt(width) + mask) value. Queries [B, H, T, width]; keys and values [B, KV, T, width], each shared by
 * H / KV heads in a row. `mask` [B, T, T]: 0 where a token sees another, a large negative number elsewhere; no gradient. Result
 * [B, H, T, width].
 */
export function treeAttention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor): Tensor {
  const [B, H, T, width] = query.shape as readonly [Dim, Dim, Dim, Dim];
  const groups = key.shape[1];
  const fits = typeof H === 'number' && typeof groups === 'number' && H % groups === 0;
  if (!fits || typeof width !== 'number') {
    const shapes = [query.shape, key.shape, value.shape];
    throw shapeMismatch(
      'treeAttention',
      shapes,
      '[B, H, T, width] and twice [B, KV, T, width], H a multiple of KV',
    );
  }
  const scale = 1 / Math.sqrt(width);
  // Heads that share keys and values are stacked along the rows, so that nothing is repeated in memory.
  const stacked = reshape(query, [B, groups, product([H / groups, T]), width]);
  const scores = matmul(stacked, key, { transposeB: true, scale });
  const masked = add(reshape(scores, [B, H, T, T]), reshape(mask, [B, 1, T, T]));
  const weights = reshape(softmax(masked), scores.shape);
  const mixed = matmul(weights, value);
  const result = query.graph.apply(treeAttentionOperator, [stacked, key, value, weights, mixed], { scale });
  return reshape(result, query.shape);
}
