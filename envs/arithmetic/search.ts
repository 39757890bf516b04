/** Every expression over given numbers, each used once, and the ways to write it. */

import type { Expression } from './expression.ts';
import { apply, type Operator, type Rational } from './rational.ts';

interface Valued {
  readonly expression: Expression;
  readonly value: Rational;
}

/** Every order of the numbers, every tree and every operator: 7,680 expressions of four different numbers. */
export function* expressions(numbers: readonly number[], operators: readonly Operator[]): Iterable<Valued> {
  for (const order of orders(numbers)) yield* trees(order, operators);
}

/** The different orders of a list. */
export function orders(numbers: readonly number[]): readonly (readonly number[])[] {
  if (numbers.length === 0) return [[]];
  return [...new Set(numbers)].flatMap((first) => {
    const place = numbers.indexOf(first);
    return orders(numbers.filter((_, index) => index !== place)).map((rest) => [first, ...rest]);
  });
}

function trees(numbers: readonly number[], operators: readonly Operator[]): readonly Valued[] {
  if (numbers.length === 1) return [{ expression: { number: numbers[0]! }, value: [numbers[0]!, 1] }];
  const found: Valued[] = [];
  for (let cut = 1; cut < numbers.length; cut++) {
    const rights = trees(numbers.slice(cut), operators);
    for (const left of trees(numbers.slice(0, cut), operators)) {
      for (const right of rights) {
        for (const operator of operators) {
          const value = apply(operator, left.value, right.value);
          const operands = [left.expression, right.expression];
          if (value) found.push({ expression: { operator, operands }, value });
        }
      }
    }
  }
  return found;
}

const binds = (operator: string): number => (operator === '*' || operator === '/' ? 2 : 1);

/** The texts of an expression, tokens separated by spaces: with the parentheses that it needs first, and each other one there or not. */
export function writings(expression: Expression): readonly string[] {
  if (!('operator' in expression)) return ['number' in expression ? `${expression.number}` : expression.name];
  const { operator, operands } = expression;
  const [lefts, rights] = operands.map((operand, side) =>
    writings(operand).flatMap((text) => {
      if (!('operator' in operand)) return [text];
      const loose = binds(operand.operator) < binds(operator);
      const needed = loose || (side === 1 && binds(operand.operator) === binds(operator));
      return needed ? [`( ${text} )`] : [text, `( ${text} )`];
    }),
  );
  return lefts!.flatMap((left) => rights!.map((right) => `${left} ${operator} ${right}`));
}
