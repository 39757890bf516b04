/** Comparisons, choices and conversions: where gradients stop or part. */

import { broadcastShapes } from '../dimension.ts';
import type { Operator } from '../graph.ts';
import type { DType, Tensor } from '../tensor.ts';
import { asTensors, type Operand, sameType } from './elementwise.ts';
import { sumTo } from './reduce.ts';

type Plain = Operator<Record<never, never>>;

function comparison(name: string, type: string): Plain {
  return {
    name,
    isConstant: true,
    infer: (inputs) => {
      sameType(name, inputs, ['float32', 'int64']);
      return { shape: broadcastShapes(name, ...inputs.map((input) => input.shape)), dtype: 'bool' };
    },
    emit: (emission, inputs) => emission.node(type, inputs),
  };
}

const greaterOperator = comparison('greater', 'Greater');
const lessOperator = comparison('less', 'Less');
const equalOperator = comparison('equal', 'Equal');

const whereOperator: Plain = {
  name: 'where',
  infer: ([condition, ...branches]) => {
    sameType('where', [condition!], ['bool']);
    return {
      shape: broadcastShapes('where', condition!.shape, ...branches.map((branch) => branch.shape)),
      dtype: sameType('where', branches, ['float32', 'int64']),
    };
  },
  emit: (emission, inputs) => emission.node('Where', inputs),
  backward: (gradient, { inputs: [condition, a, b] }) => [
    undefined,
    sumTo(where(condition!, gradient, 0), a!.shape),
    sumTo(where(condition!, 0, gradient), b!.shape),
  ],
};

const onnxType: Readonly<Record<DType, number>> = { float32: 1, int64: 7, bool: 9 };

const castOperator: Operator<{ to: DType }> = {
  name: 'cast',
  isConstant: true,
  infer: ([x], { to }) => ({ shape: x!.shape, dtype: to }),
  emit: (emission, inputs, node) => emission.node('Cast', inputs, { to: onnxType[node.attributes.to] }),
};

const stopGradientOperator: Plain = {
  name: 'stopGradient',
  isConstant: true,
  infer: ([x]) => ({ shape: x!.shape, dtype: x!.dtype }),
  emit: (_emission, [x]) => x!,
};

function compare(operator: Plain, a: Operand, b: Operand): Tensor {
  const inputs = asTensors(a, b);
  return inputs[0]!.graph.apply(operator, inputs, {});
}

/** a > b, as booleans; no gradient. */
export function greater(a: Operand, b: Operand): Tensor {
  return compare(greaterOperator, a, b);
}

/** a < b, as booleans; no gradient. */
export function less(a: Operand, b: Operand): Tensor {
  return compare(lessOperator, a, b);
}

/** a = b, as booleans; no gradient. */
export function equal(a: Operand, b: Operand): Tensor {
  return compare(equalOperator, a, b);
}

/** `a` where the condition holds and `b` elsewhere; each gets the gradient of its own places. */
export function where(condition: Tensor, a: Operand, b: Operand): Tensor {
  const typed = [a, b].find((operand) => typeof operand !== 'number');
  const branches =
    typed === undefined
      ? [condition.graph.constant(a as number), condition.graph.constant(b as number)]
      : asTensors(a, b);
  return condition.graph.apply(whereOperator, [condition, ...branches], {});
}

/** Conversion between types; no gradient passes, except that float32 to float32 is the tensor itself. */
export function cast(x: Tensor, to: DType): Tensor {
  return x.dtype === to ? x : x.graph.apply(castOperator, [x], { to });
}

/** The same value, treated as a constant by `gradients`. */
export function stopGradient(x: Tensor): Tensor {
  return x.graph.apply(stopGradientOperator, [x], {});
}
