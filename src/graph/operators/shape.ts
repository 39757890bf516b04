/** Operators that move, cut or repeat values without changing them. */

import { TurnwiseError } from '../../core/errors.ts';
import {
  broadcastShapes,
  canonical,
  factors,
  plus,
  product,
  sameShape,
  shapeMismatch,
} from '../dimension.ts';
import type { Emission, Graph, Operator } from '../graph.ts';
import type { Dim, Tensor } from '../tensor.ts';
import { sameType } from './elementwise.ts';
import { sumTo } from './reduce.ts';

/** A possibly negative axis as a position. Throws `shape-mismatch` when there is no such axis. */
export function axisOf(operator: string, x: Tensor, axis: number): number {
  const position = axis < 0 ? axis + x.shape.length : axis;
  if (Number.isInteger(position) && position >= 0 && position < x.shape.length) return position;
  throw shapeMismatch(
    operator,
    [x.shape],
    `an axis from ${-x.shape.length} to ${x.shape.length - 1}, not ${axis}`,
  );
}

const reshapeOperator: Operator<{ shape: readonly Dim[] }> = {
  name: 'reshape',
  infer: ([x], { shape }) => {
    if (product(x!.shape) !== product(shape)) {
      throw shapeMismatch('reshape', [x!.shape, shape], 'a shape with the same number of elements');
    }
    return { shape, dtype: x!.dtype };
  },
  emit: (emission, [x], node) => {
    const from = node.inputs[0]!.shape;
    // 0 copies an axis of the input and a single -1 is inferred, so most symbolic shapes need no computation.
    const codes = node.shape.map((size, axis) =>
      typeof size === 'number' && size > 0 ? size : size === from[axis] ? 0 : -1,
    );
    const inferable = codes.filter((code) => code === -1).length <= 1;
    return emission.node('Reshape', [x!, inferable ? emission.integers(codes) : emission.shape(node.shape)]);
  },
  backward: (gradient, { inputs: [x] }) => [reshape(gradient, x!.shape)],
};

const transposeOperator: Operator<{ permutation: readonly number[] }> = {
  name: 'transpose',
  infer: ([x], { permutation }) => {
    if (
      [...permutation].sort((a, b) => a - b).some((axis, position) => axis !== position) ||
      permutation.length !== x!.shape.length
    ) {
      throw shapeMismatch('transpose', [x!.shape], `a permutation of its axes, not ${permutation.join()}`);
    }
    return { shape: permutation.map((axis) => x!.shape[axis]!), dtype: x!.dtype };
  },
  emit: (emission, inputs, node) => emission.node('Transpose', inputs, { perm: node.attributes.permutation }),
  backward: (gradient, node) => [
    transpose(
      gradient,
      node.attributes.permutation.map((_, axis) => node.attributes.permutation.indexOf(axis)),
    ),
  ],
};

const broadcastOperator: Operator<{ shape: readonly Dim[] }> = {
  name: 'broadcastTo',
  infer: ([x], { shape }) => {
    if (!sameShape(broadcastShapes('broadcastTo', x!.shape, shape), shape)) {
      throw shapeMismatch('broadcastTo', [x!.shape, shape], 'a shape that the first one broadcasts to');
    }
    return { shape, dtype: x!.dtype };
  },
  emit: (emission, [x], node) => emission.node('Expand', [x!, emission.shape(node.shape)]),
  backward: (gradient, { inputs: [x] }) => [sumTo(gradient, x!.shape)],
};

const sliceOperator: Operator<{ axis: number; start: number; end: number | undefined }> = {
  name: 'slice',
  infer: ([x], { axis, start, end }) => ({
    shape: x!.shape.map((size, at) => (at === axis ? slicedSize(x!, size, start, end) : size)),
    dtype: x!.dtype,
  }),
  emit: (emission, [x], node) => {
    const { axis, start, end } = node.attributes;
    const bounds = [[start], [end ?? Number.MAX_SAFE_INTEGER], [axis]];
    return emission.node('Slice', [x!, ...bounds.map((bound) => emission.integers(bound))]);
  },
  backward: (gradient, node) => {
    const { axis, start, end } = node.attributes;
    const { shape } = node.inputs[0]!;
    return [gradient.graph.apply(padOperator, [gradient], { axis, start, end, shape })];
  },
};

/** The gradient of `slice`: zeros around it, back to the shape that was cut. */
const padOperator: Operator<{ axis: number; start: number; end: number | undefined; shape: readonly Dim[] }> =
  {
    name: 'pad',
    infer: ([x], { shape }) => ({ shape, dtype: x!.dtype }),
    emit: (emission, [x], node) => {
      const { axis, start, end, shape } = node.attributes;
      const parts: Part[] = shape.map((size, at) => ({
        size,
        start: at === axis ? start : 0,
        end: at === axis ? end : undefined,
      }));
      const before = parts.map((part) => marginBefore(emission, part));
      const after = parts.map((part) => marginAfter(emission, part));
      const pads = [...before, ...after];
      const known = pads.every((pad) => typeof pad === 'number');
      const names = known
        ? emission.integers(pads)
        : emission.node(
            'Concat',
            pads.map((pad) => (typeof pad === 'number' ? emission.integers([pad]) : pad)),
            { axis: 0 },
          );
      return emission.node('Pad', [x!, names]);
    },
    backward: (gradient, node) => {
      const { axis, start, end } = node.attributes;
      return [slice(gradient, axis, start, end)];
    },
  };

interface Part {
  readonly size: Dim;
  readonly start: number;
  readonly end: number | undefined;
}

function marginBefore(emission: Emission, { size, start }: Part): number | string {
  if (start >= 0) return start;
  if (typeof size === 'number') return size + start;
  return emission.node('Add', [emission.shape([size]), emission.integers([start])]);
}

function marginAfter(emission: Emission, { size, end }: Part): number | string {
  if (end === undefined) return 0;
  if (end < 0) return -end;
  if (typeof size === 'number') return Math.max(0, size - end);
  return emission.node('Sub', [emission.shape([size]), emission.integers([end])]);
}

function slicedSize(x: Tensor, size: Dim, start: number, end: number | undefined): Dim {
  if (typeof size === 'number') {
    const from = start < 0 ? size + start : start;
    const to = end === undefined ? size : end < 0 ? size + end : end;
    if (from >= 0 && from <= to && to <= size) return to - from;
    throw shapeMismatch('slice', [x.shape], `a range within ${size}, not ${start} to ${end ?? 'the end'}`);
  }
  if (start >= 0 && (end === undefined || end < 0)) return plus(size, (end ?? 0) - start);
  if (start < 0 && (end === undefined || end < 0)) return (end ?? 0) - start;
  if (start >= 0 && end !== undefined && end >= start) return end - start;
  throw shapeMismatch(
    'slice',
    [x.shape],
    'on a symbolic axis, both bounds from the same end or from the outside in',
  );
}

const concatOperator: Operator<{ axis: number }> = {
  name: 'concat',
  infer: (inputs, { axis }) => {
    const shapes = inputs.map((input) => input.shape);
    const first = shapes[0]!;
    if (
      !shapes.every(
        (shape) =>
          shape.length === first.length && shape.every((size, at) => at === axis || size === first[at]),
      )
    ) {
      throw shapeMismatch('concat', shapes, `equal sizes on every axis but ${axis}`);
    }
    return {
      shape: first.map((size, at) =>
        at === axis ? shapes.map((shape) => shape[at]!).reduce(sumOfSizes) : size,
      ),
      dtype: sameType('concat', inputs, ['float32', 'int64']),
    };
  },
  emit: (emission, inputs, node) => emission.node('Concat', inputs, { axis: node.attributes.axis }),
  backward: (gradient, node) => {
    const { axis } = node.attributes;
    const sizes = node.inputs.map((input) => input.shape[axis]!);
    return sizes.map((size, index) => {
      const before = sizes.slice(0, index);
      const after = sizes.slice(index + 1);
      if (before.every((other) => typeof other === 'number')) {
        const start = before.reduce((total, other) => total + other, 0);
        if (typeof size === 'number') return slice(gradient, axis, start, start + size);
        if (after.every((other) => typeof other === 'number')) {
          const rest = after.reduce((total, other) => total + other, 0);
          return slice(gradient, axis, start, rest === 0 ? undefined : -rest);
        }
      }
      if (typeof size === 'number' && after.every((other) => typeof other === 'number')) {
        const rest = after.reduce((total, other) => total + other, 0);
        return slice(gradient, axis, -rest - size, rest === 0 ? undefined : -rest);
      }
      throw shapeMismatch(
        'concat',
        node.inputs.map((input) => input.shape),
        'at most one symbolic size along the axis to differentiate',
      );
    });
  },
};

function sumOfSizes(a: Dim, b: Dim): Dim {
  if (typeof b === 'number') return plus(a, b);
  if (typeof a === 'number') return plus(b, a);
  throw shapeMismatch('concat', [[a], [b]], 'at most one symbolic size along the axis');
}

const sizeOperator: Operator<{ dimension: Dim }> = {
  name: 'sizeOf',
  isConstant: true,
  infer: () => ({ shape: [], dtype: 'float32' }),
  emit: (emission, _inputs, node) => {
    const size = emission.node('Cast', [emission.shape([node.attributes.dimension])], { to: 1 });
    return emission.node('Reshape', [size, emission.integers([])]);
  },
};

/** The same values in another shape with as many elements, for example `['B*T', 64]`. */
export function reshape(x: Tensor, shape: readonly Dim[]): Tensor {
  const target = shape.map(canonical);
  if (sameShape(x.shape, target)) return x;
  const node = x.graph.node(x);
  return node.operator.name === 'reshape'
    ? reshape(node.inputs[0]!, target)
    : x.graph.apply(reshapeOperator, [x], { shape: target });
}

/** Axes in another order: axis `i` of the result is axis `permutation[i]` of `x`. */
export function transpose(x: Tensor, permutation: readonly number[]): Tensor {
  return x.graph.apply(transposeOperator, [x], { permutation });
}

/** Repeats axes of size 1 (and missing leading axes) up to `shape`. */
export function broadcastTo(x: Tensor, shape: readonly Dim[]): Tensor {
  const target = shape.map(canonical);
  return sameShape(x.shape, target) ? x : x.graph.apply(broadcastOperator, [x], { shape: target });
}

/** What was expanded to make `x`, or `x` itself. */
export function unbroadcast(x: Tensor): Tensor {
  const node = x.graph.node(x);
  return node.operator.name === 'broadcastTo' ? node.inputs[0]! : x;
}

/** Positions `start` up to but without `end` along an axis; negative bounds count from the end, no `end` is the end. */
export function slice(x: Tensor, axis: number, start: number, end?: number): Tensor {
  return x.graph.apply(sliceOperator, [x], { axis: axisOf('slice', x, axis), start, end });
}

/** Tensors one after the other along an axis. */
export function concat(tensors: readonly Tensor[], axis: number): Tensor {
  const first = tensors[0];
  if (!first) {
    throw new TurnwiseError('shape-mismatch', {
      what: "'concat' was given no tensors",
      allowed: 'at least one',
    });
  }
  return tensors.length === 1
    ? first
    : first.graph.apply(concatOperator, tensors, { axis: axisOf('concat', first, axis) });
}

/** The value of a size expression as a float32 scalar: a constant where it is a number. */
export function sizeOf(graph: Graph, dimension: Dim): Tensor {
  const { coefficient, symbols } = factors(dimension);
  return symbols.length === 0
    ? graph.constant(coefficient)
    : graph.apply(sizeOperator, [], { dimension: canonical(dimension) });
}
