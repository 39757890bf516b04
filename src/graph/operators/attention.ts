/** Causal attention over whole sequences in two blocks of queries, with a derivative that keeps only the attention weights. */

import { factors, product, shapeMismatch } from '../dimension.ts';
import type { Operator } from '../graph.ts';
import type { Dim, Tensor } from '../tensor.ts';
import { add, multiply, subtract } from './elementwise.ts';
import { matmul } from './matrix.ts';
import { softmax, sum } from './reduce.ts';
import { concat, reshape, slice } from './shape.ts';

/** The mixed values, given queries, keys, values, the attention weights of both blocks, and themselves. */
const attentionOperator: Operator<{ scale: number }> = {
  name: 'causalAttention',
  infer: ([, , , , , mixed]) => ({ shape: mixed!.shape, dtype: 'float32' }),
  emit: (_emission, [, , , , , mixed]) => mixed!,
  backward: (gradient, { inputs, attributes: { scale } }) => {
    const [query, key, value, weights0, weights1, mixed] = inputs as unknown as readonly [
      Tensor,
      Tensor,
      Tensor,
      Tensor,
      Tensor,
      Tensor,
    ];
    // The row sums of weights * (gradient value^T) are those of gradient * mixed, which is smaller (arXiv:2205.14135).
    const sums = sum(multiply(gradient, mixed), [-1], true);
    const heads = query.shape[1]!;
    const [query0, query1] = stackedHalves(query, key);
    const [gradient0, gradient1] = stackedHalves(gradient, key);
    const [sums0, sums1] = stackedHalves(sums, key);
    const toScores = (weights: Tensor, toMixed: Tensor, values: Tensor, rowSums: Tensor): Tensor =>
      multiply(weights, subtract(matmul(toMixed, values, { transposeB: true }), rowSums));
    const scores0 = toScores(weights0, gradient0, halves(value)[0], sums0);
    const scores1 = toScores(weights1, gradient1, value, sums1);
    const toQuery0 = matmul(scores0, halves(key)[0], { scale });
    const toQuery1 = matmul(scores1, key, { scale });
    const transposed = { transposeA: true, scale };
    return [
      joined(toQuery0, toQuery1, heads),
      addedToFirstHalf(matmul(scores1, query1, transposed), matmul(scores0, query0, transposed)),
      addedToFirstHalf(
        matmul(weights1, gradient1, { transposeA: true }),
        matmul(weights0, gradient0, { transposeA: true }),
      ),
    ];
  },
};

/**
 * softmax(query key^T / sqrt(width) + causal mask) value. Queries [B, H, 2U, width]; keys and values [B, KV, 2U, width],
 * each shared by H / KV heads in a row. The first U queries see the first U keys only, so a quarter of the products of
 * whole attention is never made. `mask` [U, 2U] is what the last U queries get: 0 up to and with a query's own place, a
 * large negative number behind it; no gradient. Result [B, H, 2U, width].
 */
export function causalAttention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor): Tensor {
  const [B, H, T, width] = query.shape;
  const groups = key.shape[1];
  const fits = typeof H === 'number' && typeof groups === 'number' && H % groups === 0;
  if (!fits || typeof width !== 'number' || factors(T!).coefficient % 2 !== 0) {
    const shapes = [query.shape, key.shape, value.shape];
    const rule = '[B, H, 2U, width] and twice [B, KV, 2U, width], H a multiple of KV';
    throw shapeMismatch('causalAttention', shapes, rule);
  }
  const scale = 1 / Math.sqrt(width);
  const U = half(T!);
  const attend = (queries: Tensor, keys: Tensor, values: Tensor, hiding: Tensor): [Tensor, Tensor] => {
    const scores = matmul(queries, keys, { transposeB: true, scale });
    const masked = add(reshape(scores, [B!, H, U, keys.shape[2]!]), hiding);
    const weights = reshape(softmax(masked), scores.shape);
    return [weights, matmul(weights, values)];
  };
  const [query0, query1] = stackedHalves(query, key);
  const mask0 = reshape(slice(reshape(mask, [U, 2, U]), 1, 1), [U, U]);
  const [weights0, mixed0] = attend(query0, halves(key)[0], halves(value)[0], mask0);
  const [weights1, mixed1] = attend(query1, key, value, mask);
  const mixed = joined(mixed0, mixed1, H);
  return query.graph.apply(attentionOperator, [query, key, value, weights0, weights1, mixed], { scale });
}

function half(size: Dim): Dim {
  const { coefficient, symbols } = factors(size);
  const names = symbols.map(({ name, offset }) =>
    offset === 0 ? name : `(${name}${offset > 0 ? '+' : ''}${offset})`,
  );
  return product([coefficient / 2, ...names]);
}

/** The first and the last half of the third axis of [B, N, 2U, width]. */
function halves(x: Tensor): readonly [Tensor, Tensor] {
  const [B, N, T, width] = x.shape as readonly [Dim, Dim, Dim, Dim];
  const split = reshape(x, [B, N, 2, half(T), width]);
  const part = (index: number): Tensor => reshape(slice(split, 2, index, index + 1), [B, N, half(T), width]);
  return [part(0), part(1)];
}

/**
 * The halves of [B, H, 2U, width] as [B, KV, H / KV * U, width]: heads that share keys and values are stacked along the
 * rows, so that nothing is repeated in memory.
 */
function stackedHalves(x: Tensor, key: Tensor): readonly [Tensor, Tensor] {
  const [B, H, T, width] = x.shape as readonly [Dim, number, Dim, Dim];
  const groups = key.shape[1] as number;
  const stacked = [B, groups, product([H / groups, half(T)]), width];
  const [first, last] = halves(x);
  return [reshape(first, stacked), reshape(last, stacked)];
}

/** Stacked halves back together: [B, H, 2U, width]. */
function joined(first: Tensor, last: Tensor, heads: Dim): Tensor {
  const [B, groups, stacked, width] = first.shape as readonly [Dim, number, Dim, Dim];
  const { coefficient, symbols } = factors(product([groups, stacked]));
  const U = product([coefficient / (heads as number), ...symbols.map(({ name }) => name)]);
  const byHead = [B, heads, 1, U, width];
  const both = concat([reshape(first, byHead), reshape(last, byHead)], 2);
  return reshape(both, [B, heads, product([2, U]), width]);
}

/** `whole` [B, N, 2U, width] plus `part` [B, N, U, width] on its first half. */
function addedToFirstHalf(whole: Tensor, part: Tensor): Tensor {
  const [first, last] = halves(whole);
  return joined(add(first, part), last, whole.shape[1]!);
}
