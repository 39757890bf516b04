/** Matrix products. */

import { TurnwiseError } from '../../core/errors.ts';
import { broadcastShapes, product, shapeMismatch } from '../dimension.ts';
import type { Operator } from '../graph.ts';
import type { Dim, Tensor } from '../tensor.ts';
import { sameType } from './elementwise.ts';
import { sumTo } from './reduce.ts';
import { reshape, transpose } from './shape.ts';

export interface MatmulOptions {
  /** Swap the last two axes of `a` first; nothing is moved in memory. */
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  /** A factor on the result, at no cost. */
  readonly scale?: number;
}

const matmulOperator: Operator<{ transposeA: boolean; transposeB: boolean; scale: number }> = {
  name: 'matmul',
  infer: (inputs, { transposeA, transposeB }) => {
    const a = inputs[0]!.shape;
    const b = inputs[1]!.shape;
    const rule = 'two tensors of at least two axes whose inner sizes agree and whose leading axes broadcast';
    const words = `matmul${transposeA ? ' (a transposed)' : ''}${transposeB ? ' (b transposed)' : ''}`;
    if (a.length < 2 || b.length < 2) throw shapeMismatch(words, [a, b], rule);
    const [rows, innerA] = transposeA ? [a.at(-1)!, a.at(-2)!] : [a.at(-2)!, a.at(-1)!];
    const [innerB, columns] = transposeB ? [b.at(-1)!, b.at(-2)!] : [b.at(-2)!, b.at(-1)!];
    if (innerA !== innerB) throw shapeMismatch(words, [a, b], rule);
    const leading = broadcastShapes(words, a.slice(0, -2), b.slice(0, -2));
    return { shape: [...leading, rows, columns], dtype: sameType('matmul', inputs, ['float32']) };
  },
  emit: (emission, inputs, node) => {
    const { transposeA, transposeB, scale } = node.attributes;
    if (!transposeA && !transposeB && scale === 1) return emission.node('MatMul', inputs);
    const attributes = { transA: transposeA ? 1 : 0, transB: transposeB ? 1 : 0, alpha: { float: scale } };
    return emission.node('FusedMatMul', inputs, attributes, 'com.microsoft');
  },
  backward: (gradient, node) => {
    const a = node.inputs[0]!;
    const b = node.inputs[1]!;
    const { transposeA, transposeB } = node.attributes;
    const [bare, factor] = unscaled(gradient);
    const scale = factor * node.attributes.scale;
    const toA = transposeA
      ? matmul(b, bare, { transposeA: transposeB, transposeB: true, scale })
      : matmul(bare, b, { transposeB: !transposeB, scale });
    // One product over all rows, instead of one for each leading index and a sum.
    if (b.shape.length === 2 && !transposeA) {
      const [x, g] = [rowsOf(a), rowsOf(bare)];
      return [sumTo(toA, a.shape), transposeB ? productOverRows(g, x, scale) : productOverRows(x, g, scale)];
    }
    const toB = transposeB
      ? matmul(bare, a, { transposeA: true, transposeB: transposeA, scale })
      : matmul(a, bare, { transposeA: !transposeA, scale });
    return [sumTo(toA, a.shape), sumTo(toB, b.shape)];
  },
};

/**
 * aᵀ·b of [R, M] and [R, N], for many more rows than columns. The runtime's product reads a transposed first factor again for every
 * 128 columns of the result, so the narrower one is transposed beforehand, in memory; of wide ones that costs more than it saves.
 */
function productOverRows(a: Tensor, b: Tensor, scale: number): Tensor {
  const [m, n] = [a.shape[1]!, b.shape[1]!];
  const cheap = (columns: Dim): boolean => typeof columns === 'number' && columns < 1024;
  if (cheap(m) && (!cheap(n) || Number(m) <= Number(n))) return matmul(moved(a), b, { scale });
  if (cheap(n)) return transpose(matmul(moved(b), a, { scale }), [1, 0]);
  return matmul(a, b, { transposeA: true, scale });
}

/** The transposed matrix as a copy: between two reshapes, the runtime cannot make it a flag of the product. */
function moved(x: Tensor): Tensor {
  const [rows, columns] = x.shape as readonly [Dim, Dim];
  return reshape(transpose(reshape(x, [1, rows, columns]), [0, 2, 1]), [columns, rows]);
}

function rowsOf(x: Tensor): Tensor {
  return x.shape.length === 2 ? x : reshape(x, [product(x.shape.slice(0, -1)), x.shape.at(-1)!]);
}

/** What was multiplied by a scalar constant to make `x`, and the constant: a product takes it as its scale. */
function unscaled(x: Tensor): readonly [Tensor, number] {
  const { operator, inputs } = x.graph.node(x);
  if (operator.name === 'multiply') {
    for (const [factor, rest] of [inputs, [...inputs].reverse()] as const) {
      const constant = factor!.shape.length === 0 ? factor!.values?.[0] : undefined;
      if (constant !== undefined) return [rest!, Number(constant)];
    }
  }
  return [x, 1];
}

/** The matrix product over the last two axes, [..., M, K] by [..., K, N]; leading axes broadcast. */
export function matmul(a: Tensor, b: Tensor, options: MatmulOptions = {}): Tensor {
  const { transposeA = false, transposeB = false, scale = 1 } = options;
  if (!Number.isFinite(scale)) {
    throw new TurnwiseError('type-mismatch', {
      what: "The scale of 'matmul' is not a finite number",
      seen: String(scale),
    });
  }
  const [left, leftScale] = unscaled(a);
  const [right, rightScale] = unscaled(b);
  const attributes = { transposeA, transposeB, scale: scale * leftScale * rightScale };
  return a.graph.apply(matmulOperator, [left, right], attributes);
}
