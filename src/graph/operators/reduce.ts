/** Sums, means and maxima over axes, and the softmax family over the last axis. */

import { product, sameShape } from '../dimension.ts';
import type { Operator } from '../graph.ts';
import type { Dim, Tensor } from '../tensor.ts';
import { divide, multiply, sameType, subtract } from './elementwise.ts';
import { cast, equal } from './logic.ts';
import { axisOf, broadcastTo, reshape, sizeOf } from './shape.ts';
import { exp } from './unary.ts';

interface Reduction {
  readonly [key: string]: boolean | readonly number[];
  readonly axes: readonly number[];
  readonly keepDims: boolean;
}

function reduction(
  name: string,
  type: string,
  backward: NonNullable<Operator<Reduction>['backward']>,
): Operator<Reduction> {
  return {
    name,
    infer: (inputs, { axes, keepDims }) => ({
      shape: reducedShape(inputs[0]!.shape, axes, keepDims),
      dtype: sameType(name, inputs, ['float32']),
    }),
    emit: (emission, [x], node) => {
      const { axes, keepDims } = node.attributes;
      return emission.node(type, [x!, emission.integers(axes)], { keepdims: keepDims ? 1 : 0 });
    },
    backward,
  };
}

function reducedShape(shape: readonly Dim[], axes: readonly number[], keepDims: boolean): readonly Dim[] {
  return shape.flatMap((size, axis) => (!axes.includes(axis) ? [size] : keepDims ? [1] : []));
}

const sumOperator = reduction('sum', 'ReduceSum', (gradient, node) => {
  const { shape } = node.inputs[0]!;
  return [broadcastTo(reshape(gradient, reducedShape(shape, node.attributes.axes, true)), shape)];
});

const maxOperator = reduction('max', 'ReduceMax', (gradient, node) => {
  const x = node.inputs[0]!;
  const { axes } = node.attributes;
  const kept = reducedShape(x.shape, axes, true);
  const mask = cast(equal(x, reshape(node, kept)), 'float32');
  return [multiply(mask, divide(reshape(gradient, kept), sum(mask, axes, true)))];
});

function reduce(
  operator: Operator<Reduction>,
  x: Tensor,
  axes: readonly number[] | undefined,
  keepDims: boolean,
): Tensor {
  const chosen = axes ?? x.shape.map((_, axis) => axis);
  const positions = [...new Set(chosen.map((axis) => axisOf(operator.name, x, axis)))].sort((a, b) => a - b);
  return positions.length === 0 ? x : x.graph.apply(operator, [x], { axes: positions, keepDims });
}

/** Sum over some axes (all when not given). */
export function sum(x: Tensor, axes?: readonly number[], keepDims = false): Tensor {
  return reduce(sumOperator, x, axes, keepDims);
}

/** Mean over some axes (all when not given). */
export function mean(x: Tensor, axes?: readonly number[], keepDims = false): Tensor {
  const total = sum(x, axes, keepDims);
  if (total === x) return x;
  const reduced = (axes ?? x.shape.map((_, axis) => axis)).map((axis) => x.shape[axisOf('mean', x, axis)]!);
  const count = product(reduced);
  return typeof count === 'number' ? multiply(total, 1 / count) : divide(total, sizeOf(x.graph, count));
}

/** Maximum over some axes (all when not given); equal maxima share the gradient evenly. */
export function max(x: Tensor, axes?: readonly number[], keepDims = false): Tensor {
  return reduce(maxOperator, x, axes, keepDims);
}

/** The sum of `gradient` over the axes along which `shape` was broadcast: the gradient at a broadcast operand. */
export function sumTo(gradient: Tensor, shape: readonly Dim[]): Tensor {
  if (sameShape(gradient.shape, shape)) return gradient;
  const missing = gradient.shape.length - shape.length;
  const axes = gradient.shape.flatMap((size, axis) =>
    axis < missing || (shape[axis - missing] === 1 && size !== 1) ? [axis] : [],
  );
  return reshape(sum(gradient, axes), shape);
}

type Plain = Operator<Record<never, never>>;

function lastAxis(name: string, type: string, backward: NonNullable<Plain['backward']>): Plain {
  return {
    name,
    infer: (inputs) => {
      axisOf(name, inputs[0]!, -1);
      return { shape: inputs[0]!.shape, dtype: sameType(name, inputs, ['float32']) };
    },
    emit: (emission, inputs) => emission.node(type, inputs, { axis: -1 }),
    backward,
  };
}

const softmaxOperator = lastAxis('softmax', 'Softmax', (gradient, node) => [
  multiply(node, subtract(gradient, sum(multiply(gradient, node), [-1], true))),
]);

const logSoftmaxOperator = lastAxis('logSoftmax', 'LogSoftmax', (gradient, node) => [
  subtract(gradient, multiply(exp(node), sum(gradient, [-1], true))),
]);

/** Softmax over the last axis. */
export function softmax(x: Tensor): Tensor {
  return x.graph.apply(softmaxOperator, [x], {});
}

/** Logarithm of the softmax over the last axis. */
export function logSoftmax(x: Tensor): Tensor {
  return x.graph.apply(logSoftmaxOperator, [x], {});
}
