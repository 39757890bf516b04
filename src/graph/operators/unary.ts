/** Functions of one tensor, element by element. */

import type { Operator } from '../graph.ts';
import type { Tensor } from '../tensor.ts';
import { divide, multiply, sameType, subtract } from './elementwise.ts';

type Unary = Operator<Record<never, never>>;

function unary(
  name: string,
  type: string,
  derivative: (gradient: Tensor, x: Tensor, y: Tensor) => Tensor | undefined,
): Unary {
  return {
    name,
    infer: (inputs) => ({ shape: inputs[0]!.shape, dtype: sameType(name, inputs, ['float32']) }),
    emit: (emission, inputs) => emission.node(type, inputs),
    backward: (gradient, node) => [derivative(gradient, node.inputs[0]!, node)],
  };
}

const expOperator = unary('exp', 'Exp', (gradient, _x, y) => multiply(gradient, y));
const logOperator = unary('log', 'Log', (gradient, x) => divide(gradient, x));
const sqrtOperator = unary('sqrt', 'Sqrt', (gradient, _x, y) => divide(multiply(gradient, 0.5), y));
const absoluteOperator = unary('absolute', 'Abs', (gradient, x) => multiply(gradient, sign(x)));
const signOperator = unary('sign', 'Sign', () => undefined);
const sigmoidOperator = unary('sigmoid', 'Sigmoid', (gradient, _x, y) =>
  multiply(gradient, multiply(y, subtract(1, y))),
);
const tanhOperator = unary('tanh', 'Tanh', (gradient, _x, y) => multiply(gradient, subtract(1, square(y))));
const erfOperator = unary('erf', 'Erf', (gradient, x) =>
  multiply(gradient, multiply(exp(multiply(square(x), -1)), 2 / Math.sqrt(Math.PI))),
);

const apply = (operator: Unary, x: Tensor): Tensor => x.graph.apply(operator, [x], {});

export function exp(x: Tensor): Tensor {
  return apply(expOperator, x);
}

/** Natural logarithm. */
export function log(x: Tensor): Tensor {
  return apply(logOperator, x);
}

/** Square root; its gradient at 0 is infinite. */
export function sqrt(x: Tensor): Tensor {
  return apply(sqrtOperator, x);
}

export function square(x: Tensor): Tensor {
  return multiply(x, x);
}

/** |x|; the gradient at 0 is 0. */
export function absolute(x: Tensor): Tensor {
  return apply(absoluteOperator, x);
}

/** -1, 0 or 1; no gradient. */
export function sign(x: Tensor): Tensor {
  return apply(signOperator, x);
}

/** 1 / (1 + exp(-x)). */
export function sigmoid(x: Tensor): Tensor {
  return apply(sigmoidOperator, x);
}

export function tanh(x: Tensor): Tensor {
  return apply(tanhOperator, x);
}

/** The error function. */
export function erf(x: Tensor): Tensor {
  return apply(erfOperator, x);
}
