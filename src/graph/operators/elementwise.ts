/** Arithmetic, element by element, with broadcasting. A number stands for a scalar constant. */

import { TurnwiseError } from '../../core/errors.ts';
import { broadcastShapes, sameShape } from '../dimension.ts';
import type { Graph, Operator } from '../graph.ts';
import type { DType, Tensor } from '../tensor.ts';
import { greater, where } from './logic.ts';
import { sumTo } from './reduce.ts';
import { unbroadcast } from './shape.ts';
import { square } from './unary.ts';

/** An operand of an elementwise operator. */
export type Operand = Tensor | number;

/** Makes constants of numbers, so that every operand is a tensor of the same graph. */
export function asTensors(...operands: readonly Operand[]): Tensor[] {
  const graph = operands.find((operand) => typeof operand !== 'number')?.graph;
  if (!graph) {
    throw new TurnwiseError('foreign-tensor', {
      what: 'An operator was given numbers only',
      allowed: 'at least one tensor among the operands',
    });
  }
  return operands.map((operand) =>
    typeof operand === 'number' ? numberLike(graph, operand, operands) : operand,
  );
}

function numberLike(graph: Graph, value: number, operands: readonly Operand[]): Tensor {
  const integral = operands.every((operand) => typeof operand === 'number' || operand.dtype === 'int64');
  return integral && Number.isInteger(value)
    ? graph.constant(BigInt64Array.of(BigInt(value)), [])
    : graph.constant(value);
}

/** The common type of the operands. Throws `type-mismatch` where they differ. */
export function sameType(operator: string, inputs: readonly Tensor[], allowed: readonly DType[]): DType {
  const dtype = inputs[0]!.dtype;
  if (inputs.every((input) => input.dtype === dtype) && allowed.includes(dtype)) return dtype;
  throw new TurnwiseError('type-mismatch', {
    what: `The types given to '${operator}' do not fit`,
    seen: inputs.map((input) => input.dtype).join(' and '),
    allowed: allowed.join(' or '),
    next: 'Convert with cast()',
  });
}

type Binary = Operator<Record<never, never>>;

function binary(name: string, type: string, backward: Binary['backward']): Binary {
  return {
    name,
    infer: (inputs) => ({
      shape: broadcastShapes(name, ...inputs.map((input) => input.shape)),
      dtype: sameType(name, inputs, ['float32', 'int64']),
    }),
    emit: (emission, inputs) => emission.node(type, inputs),
    ...(backward && { backward }),
  };
}

const addOperator = binary('add', 'Add', (gradient, { inputs: [a, b] }) => [
  sumTo(gradient, a!.shape),
  sumTo(gradient, b!.shape),
]);

const subtractOperator = binary('subtract', 'Sub', (gradient, { inputs: [a, b] }) => [
  sumTo(gradient, a!.shape),
  sumTo(negate(gradient), b!.shape),
]);

const multiplyOperator = binary('multiply', 'Mul', (gradient, { inputs: [a, b] }) => [
  sumTo(multiply(gradient, b!), a!.shape),
  sumTo(multiply(gradient, a!), b!.shape),
]);

const divideOperator = binary('divide', 'Div', (gradient, { inputs: [a, b] }) => [
  sumTo(divide(gradient, b!), a!.shape),
  sumTo(negate(divide(multiply(gradient, a!), square(b!))), b!.shape),
]);

const minimumOperator = binary('minimum', 'Min', (gradient, { inputs: [a, b] }) => [
  sumTo(where(greater(a!, b!), 0, gradient), a!.shape),
  sumTo(where(greater(a!, b!), gradient, 0), b!.shape),
]);

const maximumOperator = binary('maximum', 'Max', (gradient, { inputs: [a, b] }) => [
  sumTo(where(greater(b!, a!), 0, gradient), a!.shape),
  sumTo(where(greater(b!, a!), gradient, 0), b!.shape),
]);

function applyBinary(operator: Binary, a: Operand, b: Operand): Tensor {
  const [left, right] = asTensors(a, b) as [Tensor, Tensor];
  const result = left.graph.apply(operator, [left, right], {});
  // An operand that was expanded only to be combined with a full one need not be expanded at all.
  const [bareLeft, bareRight] = [unbroadcast(left), unbroadcast(right)];
  if (bareLeft === left && bareRight === right) return result;
  for (const [x, y] of [
    [bareLeft, bareRight],
    [bareLeft, right],
    [left, bareRight],
  ] as const) {
    if (sameShape(broadcastShapes(operator.name, x.shape, y.shape), result.shape)) {
      return left.graph.apply(operator, [x, y], {});
    }
  }
  return result;
}

/** a + b. */
export function add(a: Operand, b: Operand): Tensor {
  return applyBinary(addOperator, a, b);
}

/** a - b. */
export function subtract(a: Operand, b: Operand): Tensor {
  return applyBinary(subtractOperator, a, b);
}

/** a * b, element by element. */
export function multiply(a: Operand, b: Operand): Tensor {
  return applyBinary(multiplyOperator, a, b);
}

/** a / b. */
export function divide(a: Operand, b: Operand): Tensor {
  return applyBinary(divideOperator, a, b);
}

/** The smaller of two; where they are equal the gradient goes to `a`. */
export function minimum(a: Operand, b: Operand): Tensor {
  return applyBinary(minimumOperator, a, b);
}

/** The larger of two; where they are equal the gradient goes to `a`. */
export function maximum(a: Operand, b: Operand): Tensor {
  return applyBinary(maximumOperator, a, b);
}

/** `x` kept within [low, high]; no gradient outside. */
export function clamp(x: Tensor, low: number, high: number): Tensor {
  return minimum(maximum(x, low), high);
}

/** -x. */
export function negate(x: Tensor): Tensor {
  return multiply(x, -1);
}
