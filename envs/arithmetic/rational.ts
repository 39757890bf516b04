/** Exact fractions: 8 / (3 - 8 / 3) is 24, which floating-point numbers miss. */

import type { Expression, Grammar } from './expression.ts';

export type Operator = '+' | '-' | '*' | '/';
/** In lowest terms; the denominator is positive. */
export type Rational = readonly [numerator: number, denominator: number];

export const OPERATORS: readonly Operator[] = ['+', '-', '*', '/'];
export const arithmetic: Grammar = {
  infix: [
    ['+', '-'],
    ['*', '/'],
  ],
};

/** Undefined for a division by zero. */
export function apply(operator: string, [a, b]: Rational, [c, d]: Rational): Rational | undefined {
  if (operator === '+') return reduced(a * d + c * b, b * d);
  if (operator === '-') return reduced(a * d - c * b, b * d);
  if (operator === '*') return reduced(a * c, b * d);
  return c === 0 ? undefined : reduced(a * d, b * c);
}

/** The value of an arithmetic expression; undefined where something is divided by zero. */
export function evaluate(expression: Expression): Rational | undefined {
  if ('number' in expression) return [expression.number, 1];
  if ('name' in expression) return undefined;
  const [left, right] = expression.operands.map(evaluate);
  return left && right && apply(expression.operator, left, right);
}

export function equals([numerator, denominator]: Rational, whole: number): boolean {
  return denominator === 1 && numerator === whole;
}

export function rationalText([numerator, denominator]: Rational): string {
  return denominator === 1 ? `${numerator}` : `${numerator}/${denominator}`;
}

function reduced(numerator: number, denominator: number): Rational {
  const divisor = gcd(Math.abs(numerator), Math.abs(denominator)) * Math.sign(denominator);
  // Adding 0 turns −0 into 0.
  return [numerator / divisor + 0, denominator / divisor];
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
