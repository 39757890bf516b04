/** Attention over whole sequences, with a derivative that keeps only the attention weights. */

import { shapeMismatch } from '../dimension.ts';
import type { Operator } from '../graph.ts';
import type { Tensor } from '../tensor.ts';
import { add, multiply, subtract } from './elementwise.ts';
import { matmul } from './matrix.ts';
import { softmax, sum } from './reduce.ts';
import { reshape } from './shape.ts';

/** The mixed values, given queries, keys, values, attention weights and themselves. */
const attentionOperator: Operator<{ scale: number }> = {
  name: 'attention',
  infer: ([, , , , mixed]) => ({ shape: mixed!.shape, dtype: 'float32' }),
  emit: (_emission, [, , , , mixed]) => mixed!,
  backward: (gradient, { inputs: [query, key, value, weights, mixed], attributes: { scale } }) => {
    // The row sums of weights * (gradient value^T) are those of gradient * mixed, which is smaller (arXiv:2205.14135).
    const rowSums = sum(multiply(gradient, mixed!), [-1], true);
    const toWeights = matmul(gradient, value!, { transposeB: true });
    const toScores = multiply(weights!, subtract(toWeights, rowSums));
    return [
      matmul(toScores, key!, { scale }),
      matmul(toScores, query!, { transposeA: true, scale }),
      matmul(weights!, gradient, { transposeA: true }),
      undefined,
      undefined,
    ];
  },
};

/**
 * softmax(query key^T / sqrt(width) + mask) value. Queries [B, H, T, width]; keys and values [B, KV, T, width], each
 * shared by H / KV heads in a row; `mask` broadcasts to [B, H, T, T] and gets no gradient. Result [B, H, T, width].
 */
export function attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor): Tensor {
  const [B, H, T, width] = query.shape;
  const groups = key.shape[1];
  if (typeof H !== 'number' || typeof groups !== 'number' || H % groups !== 0 || typeof width !== 'number') {
    const shapes = [query.shape, key.shape, value.shape];
    throw shapeMismatch(
      'attention',
      shapes,
      '[B, H, T, width] and twice [B, KV, T, width], H a multiple of KV',
    );
  }
  // Heads that share keys and values are stacked along the rows, so that nothing is repeated in memory.
  const rows = H === groups ? T! : `${H / groups}*${T}`;
  const scale = 1 / Math.sqrt(width);
  const stacked = reshape(query, [B!, groups, rows, width]);
  const scores = matmul(stacked, key, { transposeB: true, scale });
  const weights = softmax(add(reshape(scores, [B!, H, T!, key.shape[2]!]), mask));
  const perGroup = reshape(weights, scores.shape);
  const mixed = matmul(perGroup, value);
  const result = query.graph.apply(attentionOperator, [stacked, key, value, perGroup, mixed], { scale });
  return reshape(result, query.shape);
}
