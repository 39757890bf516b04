/** Operators of neural networks whose derivatives are worked out by hand to take few passes over memory. */

import { product, shapeMismatch } from '../dimension.ts';
import type { Operator } from '../graph.ts';
import { givesSecondResults } from '../node/second-results.ts';
import type { Tensor } from '../tensor.ts';
import { add, divide, multiply, negate, sameType, subtract } from './elementwise.ts';
import { matmul } from './matrix.ts';
import { mean } from './reduce.ts';
import { reshape } from './shape.ts';
import { erf, exp, sigmoid, sqrt, square } from './unary.ts';

const rmsNormOperator: Operator<{ epsilon: number }> = {
  name: 'rmsNorm',
  infer: ([x, weight]) => {
    if (x!.shape.length < 2 || weight!.shape.length !== 1 || x!.shape.at(-1) !== weight!.shape[0]) {
      throw shapeMismatch(
        'rmsNorm',
        [x!.shape, weight!.shape],
        'two axes or more, and a weight of one axis as long as the last of them',
      );
    }
    return { shape: x!.shape, dtype: sameType('rmsNorm', [x!, weight!], ['float32']) };
  },
  emit: (emission, inputs, node) => {
    const attributes = { axis: -1, epsilon: { float: node.attributes.epsilon }, stash_type: 1 };
    const [y, inverse] = emission.nodes(2, 'SimplifiedLayerNormalization', inputs, attributes);
    emission.keep(node, inverse!);
    return y!;
  },
  backward: (gradient, node) => {
    const x = node.inputs[0]!;
    const weight = node.inputs[1]!;
    const width = x.shape.at(-1) as number;
    const inverse = givesSecondResults()
      ? x.graph.apply(rmsInverseOperator, [node], {})
      : divide(1, sqrt(add(mean(square(x), [-1], true), node.attributes.epsilon)));
    const slopes = multiply(gradient, x);
    // Sums over an axis as products with vectors, which write nothing but the sums and use every thread.
    const projection = matmul(slopes, reshape(weight, [width, 1]), { scale: 1 / width });
    const along = multiply(x, multiply(projection, square(inverse)));
    const toX = multiply(inverse, subtract(multiply(gradient, weight), along));
    const rows = product(x.shape.slice(0, -1));
    const toWeight = matmul(reshape(inverse, [rows, 1]), reshape(slopes, [rows, width]), {
      transposeA: true,
    });
    return [toX, reshape(toWeight, [width])];
  },
};

/** 1 / root-mean-square of each row, which `rmsNorm` computes on the way. */
const rmsInverseOperator: Operator<Record<never, never>> = {
  name: 'rmsInverse',
  infer: ([y]) => ({ shape: [...y!.shape.slice(0, -1), 1], dtype: 'float32' }),
  emit: (emission, _inputs, node) => emission.kept(node.inputs[0]!),
};

const rotaryOperator: Operator<{ heads: number }> = {
  name: 'rotary',
  infer: ([x, positions, cos, sin], { heads }) => {
    const shapes = [x!, positions!, cos!, sin!].map((tensor) => tensor.shape);
    sameType('rotary', [positions!], ['int64']);
    const half = cos!.shape[1];
    if (
      x!.shape.length !== 3 ||
      typeof half !== 'number' ||
      x!.shape[2] !== 2 * half * heads ||
      sin!.shape[1] !== half
    ) {
      throw shapeMismatch(
        'rotary',
        shapes,
        `[B, T, ${heads} heads * width], int64 [B, T], and tables [positions, width / 2]`,
      );
    }
    return { shape: x!.shape, dtype: sameType('rotary', [x!, cos!, sin!], ['float32']) };
  },
  emit: (emission, inputs, node) =>
    emission.node(
      'RotaryEmbedding',
      inputs,
      { num_heads: node.attributes.heads, interleaved: 0 },
      'com.microsoft',
    ),
  backward: (gradient, { inputs: [, positions, cos, sin], attributes: { heads } }) => [
    rotary(gradient, positions!, cos!, negate(sin!), heads),
    undefined,
    undefined,
    undefined,
  ],
};

/** x * sigmoid(x), given both. */
const siluOperator: Operator<Record<never, never>> = {
  name: 'silu',
  infer: ([x]) => ({ shape: x!.shape, dtype: 'float32' }),
  emit: (emission, inputs) => emission.node('Mul', inputs),
  backward: (gradient, node) => {
    const gate = node.inputs[1]!;
    return [multiply(gradient, add(node, multiply(gate, subtract(1, node)))), undefined];
  },
};

/** u * (1 + erf(u)), given both. */
const scaledGeluOperator: Operator<Record<never, never>> = {
  name: 'scaledGelu',
  infer: ([u]) => ({ shape: u!.shape, dtype: 'float32' }),
  emit: (emission, inputs) => emission.node('Mul', inputs),
  backward: (gradient, { inputs: [u, cumulative] }) => {
    // u * exp(-u^2) as a quotient: one pass fewer, and an overflow of exp gives the right limit, 0.
    const density = multiply(divide(u!, exp(square(u!))), 2 / Math.sqrt(Math.PI));
    return [multiply(gradient, add(cumulative!, density)), undefined];
  },
};

/** x / sqrt(mean(x^2) + epsilon) * weight over the last axis (arXiv:1910.07467). */
export function rmsNorm(x: Tensor, weight: Tensor, epsilon: number): Tensor {
  return x.graph.apply(rmsNormOperator, [x, weight], { epsilon });
}

/**
 * Rotary position embedding (arXiv:2104.09864) of [B, T, heads * width], each head split in halves as in Llama.
 * `positions` is int64 [B, T]; `cos` and `sin` are tables [positions, width / 2], to which no gradient flows.
 */
export function rotary(x: Tensor, positions: Tensor, cos: Tensor, sin: Tensor, heads: number): Tensor {
  return x.graph.apply(rotaryOperator, [x, positions, cos, sin], { heads });
}

/** x * sigmoid(x). */
export function silu(x: Tensor): Tensor {
  return x.graph.apply(siluOperator, [x, sigmoid(x)], {});
}

/**
 * x * Phi(x) with the exact normal distribution function (arXiv:1606.08415). Both scalar factors are at the ends, where
 * matrix products before and after absorb them.
 */
export function gelu(x: Tensor): Tensor {
  const u = multiply(x, Math.SQRT1_2);
  return multiply(x.graph.apply(scaledGeluOperator, [u, add(erf(u), 1)], {}), Math.SQRT1_2);
}
