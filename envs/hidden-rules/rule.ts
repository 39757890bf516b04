/** Rules over three numbers: what their expressions mean, and which of them mean the same. */

import { Rng } from '../../src/core/rng.ts';
import { type Expression, type Grammar, parseExpression, tokensOf } from '../arithmetic/expression.ts';

export type Triple = readonly [x: number, y: number, z: number];
export type Rule = (triple: Triple) => boolean;

const NAMES = ['x', 'y', 'z'] as const;
export const grammar: Grammar = {
  infix: [['or'], ['and'], ['=', '!=', '<', '<=', '>', '>='], ['+', '-'], ['*', '%']],
  prefix: { not: 2, '-': 5 },
  names: NAMES,
};

type Meaning =
  | { readonly kind: 'number'; readonly of: (triple: Triple) => number }
  | { readonly kind: 'truth'; readonly of: Rule };

const NUMBERS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  // Never negative, so that x % 2 = 1 is "odd" below 0 too. By 0 it is no number, and no comparison with that holds.
  '%': (a, b) => ((a % b) + Math.abs(b)) % b,
};
const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** The rule that a text says; undefined where it says none. */
export function readRule(text: string): Rule | undefined {
  const expression = parseExpression(tokensOf(text) ?? [], grammar);
  const meaning = expression && meaningOf(expression);
  return meaning?.kind === 'truth' ? meaning.of : undefined;
}

function meaningOf(expression: Expression): Meaning | undefined {
  if ('number' in expression) return { kind: 'number', of: () => expression.number };
  if ('name' in expression) {
    const place = (NAMES as readonly string[]).indexOf(expression.name);
    return { kind: 'number', of: (triple) => triple[place]! };
  }
  const { operator } = expression;
  const [left, right] = expression.operands.map(meaningOf);
  if (left === undefined) return undefined;
  if (expression.operands.length === 1) {
    if (operator === 'not' && left.kind === 'truth')
      return { kind: 'truth', of: (triple) => !left.of(triple) };
    return operator === '-' && left.kind === 'number'
      ? { kind: 'number', of: (triple) => -left.of(triple) }
      : undefined;
  }
  if (left.kind === 'truth' && right?.kind === 'truth') {
    if (operator === 'and') return { kind: 'truth', of: (triple) => left.of(triple) && right.of(triple) };
    return operator === 'or'
      ? { kind: 'truth', of: (triple) => left.of(triple) || right.of(triple) }
      : undefined;
  }
  if (left.kind !== 'number' || right?.kind !== 'number') return undefined;
  const compute = NUMBERS[operator];
  if (compute) return { kind: 'number', of: (triple) => compute(left.of(triple), right.of(triple)) };
  const compare = COMPARISONS[operator];
  return compare && { kind: 'truth', of: (triple) => compare(left.of(triple), right.of(triple)) };
}

/** Where rules are compared: all triples from −6 to 6, and 1,000 from −200 to 200. */
const TRIPLES: readonly Triple[] = (() => {
  const rng = Rng.of('hidden-rules', 'triples');
  const far = () => rng.int(401) - 200;
  const grid = Array.from(
    { length: 13 ** 3 },
    (_, number): Triple => [
      Math.floor(number / 169) - 6,
      (Math.floor(number / 13) % 13) - 6,
      (number % 13) - 6,
    ],
  );
  return [...grid, ...Array.from({ length: 1000 }, (): Triple => [far(), far(), far()])];
})();

/** Whether two rules agree on all of them. */
export function sameRule(one: Rule, other: Rule): boolean {
  return TRIPLES.every((triple) => one(triple) === other(triple));
}

const PAIRS = [
  ['x', 'y'],
  ['y', 'z'],
  ['x', 'z'],
] as const;

/** The rules of the game, those that mean the same as an earlier one left out, and those that always or never hold. */
export const RULES: readonly { readonly text: string; readonly rule: Rule }[] = (() => {
  const one = NAMES.flatMap((a) => [
    ...[0, 2, 5].flatMap((n) => [`${a} > ${n}`, `${a} < ${n}`]),
    ...['2 = 0', '2 = 1', '3 = 0'].map((rest) => `${a} % ${rest}`),
    ...[0, 5].map((n) => `${a} = ${n}`),
    `${a} >= 0 and ${a} <= 5`,
  ]);
  const two = PAIRS.flatMap(([a, b]) => [
    ...['<', '>', '=', '!='].map((sign) => `${a} ${sign} ${b}`),
    `${a} + ${b} > 0`,
    `${a} + ${b} > 5`,
    `${a} + ${b} = 5`,
    `( ${a} + ${b} ) % 2 = 0`,
    `${a} * ${b} > 0`,
    `${a} * ${b} < 0`,
    `${a} > 0 and ${b} > 0`,
    `${a} > 0 or ${b} > 0`,
    `${a} = 2 * ${b}`,
    `${b} = 2 * ${a}`,
  ]);
  const three = [
    'x < y and y < z',
    'x > y and y > z',
    'x = y and y = z',
    'x = y or y = z or x = z',
    'x + y = z',
    'y + z = x',
    'x + z = y',
    'x + y > z',
    'y + z > x',
    'x + z > y',
    'x + y + z > 0',
    'x + y + z = 0',
    'x + y + z > 10',
    '( x + y + z ) % 2 = 0',
    '( x + y + z ) % 3 = 0',
    'x * y * z > 0',
    'x * y * z = 0',
    'x * x + y * y = z * z',
    'y - x = z - y',
    'x > 0 and y > 0 and z > 0',
    'x < 0 and y < 0 and z < 0',
    'x % 2 = 0 and y % 2 = 0 and z % 2 = 0',
    'x < y and x < z',
    'y < x and y < z',
    'z < x and z < y',
    'x > y and x > z',
    'y > x and y > z',
    'z > x and z > y',
  ];
  const seen = new Set<string>();
  return [...one, ...two, ...three].flatMap((text) => {
    const rule = readRule(text)!;
    const meaning = TRIPLES.map((triple) => (rule(triple) ? 1 : 0)).join('');
    if (seen.has(meaning) || !meaning.includes('0') || !meaning.includes('1')) return [];
    seen.add(meaning);
    return [{ text, rule }];
  });
})();
