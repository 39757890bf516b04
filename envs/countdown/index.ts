/** Countdown: combine numbers, each once, into a target. Task and reward as in RAGEN (arXiv 2504.20073). */

import { z } from 'zod';
import type { Rng } from '../../src/core/rng.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { numbersIn, parseExpression, tokensOf } from '../arithmetic/expression.ts';
import {
  apply,
  arithmetic,
  equals,
  evaluate,
  OPERATORS,
  type Operator,
  type Rational,
  rationalText,
} from '../arithmetic/rational.ts';
import { expressions, orders, writings } from '../arithmetic/search.ts';
import { countdownSentences } from './wording.ts';

export type CountdownTask = { readonly numbers: readonly number[]; readonly target: number };
/** `told` is what the last expression was worth. */
export type CountdownState = CountdownTask & { readonly tries: number; readonly told: string };

export interface CountdownOptions {
  readonly count: number;
  readonly largest: number;
  readonly operators: 'sums' | 'all';
  readonly tries: number;
}

const optionsSchema = z.strictObject({
  count: z.int().min(2).max(4).default(3).describe('Numbers of a task'),
  largest: z.int().min(2).max(100).default(20).describe('The numbers are from 1 to this'),
  operators: z
    .enum(['sums', 'all'])
    .default('sums')
    .describe('sums: every task can be solved with + and -, as in RAGEN; all: it may need * and / too'),
  tries: z
    .int()
    .min(1)
    .max(20)
    .default(1)
    .describe('Expressions before the episode ends; each is answered with its value'),
  wording: wordingOption,
});

const WRONG_VALUE = 0.1;

/** The environment. The right expression pays 1; the last one pays 0.1 if only its value is wrong. */
export function countdown(options: CountdownOptions): Environment<CountdownTask, CountdownState> {
  const operators: readonly Operator[] = options.operators === 'sums' ? ['+', '-'] : OPERATORS;
  return defineEnvironment<CountdownTask, CountdownState>({
    name: 'countdown',
    description: 'Combine some numbers, each used once, into a target.',
    maxTurns: options.tries,
    returns: [0, 1],
    facts: ['answer', 'correct', 'effectiveActions'],
    tasks: drawnTasks('countdown', (rng) => {
      const numbers = Array.from({ length: options.count }, () => 1 + rng.int(options.largest)).sort(
        (a, b) => a - b,
      );
      const value = combined(numbers, operators, rng);
      if (!value) return undefined;
      const [target, denominator] = value;
      return denominator === 1 && target > 0 && !numbers.includes(target) ? { numbers, target } : undefined;
    }),
    start: (task) => {
      const state = { ...task, tries: 0, told: '' };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: (before, action) => {
      const answer = judge(before, action);
      const told = answer === undefined ? before.told : answer.value ? rationalText(answer.value) : 'unknown';
      const state = { ...before, tries: before.tries + 1, told };
      const success =
        answer?.fits === true && answer.value !== undefined && equals(answer.value, before.target);
      const done = success || state.tries >= options.tries;
      const reward = success ? 1 : done && answer?.fits ? WRONG_VALUE : 0;
      const said = success ? 'right' : done ? 'wrong' : observe(state);
      return {
        state,
        observation: answer || done ? said : `invalid ${said}`,
        reward,
        done,
        success,
        valid: answer !== undefined,
        info: {
          credit: { answer: answer ? action : '', correct: success, effectiveActions: answer?.fits ? 1 : 0 },
        },
      };
    },
    anchor: ({ numbers, target, told }) => `${numbers.join(' ')} = ${target} ${told}`,
    actions: ({ numbers }) => orders(numbers).flatMap((order) => flat(order, operators)),
    truth: (task) => solution(task, operators),
    solve: (state) => solution(state, operators),
    // Two guesses, of which it takes the one that comes nearer.
    stumble: (state, rng) => {
      const guesses = [0, 1].map(() => rng.pick(flat(rng.shuffle(state.numbers), operators)));
      const miss = (text: string): number => {
        const [numerator, denominator] = judge(state, text)?.value ?? [Number.POSITIVE_INFINITY, 1];
        return Math.abs(numerator / denominator - state.target);
      };
      return miss(guesses[0]!) <= miss(guesses[1]!) ? guesses[0]! : guesses[1]!;
    },
    render: ({ numbers, target, told }) => `${numbers.join(' ')} → ${target}${told && `, not ${told}`}`,
    natural: countdownSentences(options),
  });
}

/** What chance makes of the numbers, two at a time; undefined where it divides by zero. */
function combined(
  numbers: readonly number[],
  operators: readonly Operator[],
  rng: Rng,
): Rational | undefined {
  let values: readonly Rational[] = numbers.map((number) => [number, 1]);
  while (values.length > 1) {
    const [first, second, ...rest] = rng.shuffle(values);
    const value = apply(rng.pick(operators), first!, second!);
    if (!value) return undefined;
    values = [value, ...rest];
  }
  return values[0];
}

function observe({ numbers, target, told }: CountdownState): string {
  return `numbers ${numbers.join(' ')} target ${target}${told && ` not ${told}`}`;
}

/** The value of an expression, and whether it uses each number once; undefined for what is no expression. */
export function judge(
  { numbers }: CountdownTask,
  text: string,
): { readonly fits: boolean; readonly value: Rational | undefined } | undefined {
  const expression = parseExpression(tokensOf(text) ?? [], arithmetic);
  if (!expression || !('operator' in expression)) return undefined;
  const used = [...numbersIn(expression)].sort((a, b) => a - b);
  const wanted = [...numbers].sort((a, b) => a - b);
  return { fits: used.join() === wanted.join(), value: evaluate(expression) };
}

const solutions = new Map<string, string>();
const MOST_KEPT = 10_000;

/** The first expression that an exhaustive search finds. */
export function solution({ numbers, target }: CountdownTask, operators: readonly Operator[]): string {
  const key = `${numbers.join(' ')} ${target} ${operators.length}`;
  const known = solutions.get(key);
  if (known !== undefined) return known;
  let found = '';
  for (const { expression, value } of expressions(numbers, operators)) {
    if (!equals(value, target)) continue;
    found = writings(expression)[0]!;
    break;
  }
  if (solutions.size >= MOST_KEPT) solutions.clear();
  solutions.set(key, found);
  return found;
}

/** The numbers in this order with every choice of operators, without parentheses. */
function flat(numbers: readonly number[], operators: readonly Operator[]): readonly string[] {
  return numbers
    .slice(1)
    .reduce<readonly string[]>(
      (texts, number) =>
        texts.flatMap((text) => operators.map((operator) => `${text} ${operator} ${number}`)),
      [`${numbers[0]}`],
    );
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'countdown',
  description: 'Combine some numbers, each used once, into a target.',
  options: optionsSchema,
  // An episode is one turn, so demonstrations are cheap; random expressions teach nothing.
  settings: {
    steps: 250,
    clone: { demonstrations: 4000, beginnerShare: 0.2, randomRate: 0, steps: 400, batch: 64 },
    rollout: { tasks: 32 },
    optimizer: { learningRate: 1e-3 },
  },
  create: ({ wording, ...options }) => fromEnvironment(countdown(options), { wording }),
});
