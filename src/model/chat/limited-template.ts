/**
 * Evaluates a template within limits: templates come with checkpoints, from anywhere, and run in this process. Every expression
 * and statement is a step; long values cost more, by their length, so that no few steps can take long or fill the memory.
 */

import { Environment, Interpreter, type Template } from '@huggingface/jinja';

/** What is used of the engine's interpreter, whose own types cannot be resolved from here. */
interface Evaluator {
  run(program: unknown): { readonly value: unknown };
  evaluate(statement: Statement | undefined, environment: unknown): { readonly value: unknown };
}
interface Statement {
  readonly type: string;
  readonly iterable?: unknown;
}
const Base = Interpreter as unknown as new (environment: unknown) => Evaluator;

export interface TemplateLimits {
  readonly steps: number;
  /** Letters of a text, that of the whole prompt included. */
  readonly letters: number;
  /** Items of a list. */
  readonly items: number;
}

/** Far above what the longest conversations take, and some seconds of work. */
export const templateLimits: TemplateLimits = { steps: 1_000_000, letters: 16_000_000, items: 100_000 };

/** Letters, or items, that cost as much as a step. */
const lengthOfStep = 256;

/** @throws Error where a limit is exceeded, and what the template raises */
export function renderWithin(
  program: Template['parsed'],
  variables: Readonly<Record<string, unknown>>,
  limits: TemplateLimits = templateLimits,
): string {
  const environment = new Environment();
  const own = { false: false, true: true, none: null, False: false, True: true, None: null };
  const range = limitedRange(limits.items);
  for (const [name, value] of Object.entries({ ...own, range, ...variables })) environment.set(name, value);
  return String(new LimitedInterpreter(environment, limits).run(program).value);
}

class LimitedInterpreter extends Base {
  readonly #limits: TemplateLimits;
  /** What loops go through, item by item. */
  readonly #iterated = new Set<unknown>();
  #steps = 0;

  constructor(environment: unknown, limits: TemplateLimits) {
    super(environment);
    this.#limits = limits;
  }

  override evaluate(statement: Statement | undefined, environment: unknown): { readonly value: unknown } {
    if (statement?.type === 'For') this.#iterated.add(statement.iterable);
    this.#spend(1);
    const evaluated = super.evaluate(statement, environment);
    const { value } = evaluated;
    if (typeof value === 'string') {
      if (value.length > this.#limits.letters)
        throw new Error(`a text of more than ${this.#limits.letters} letters`);
      this.#spend(value.length / lengthOfStep);
    } else if (Array.isArray(value)) {
      if (value.length > this.#limits.items)
        throw new Error(`a list of more than ${this.#limits.items} items`);
      this.#spend(this.#iterated.has(statement) ? value.length : value.length / lengthOfStep);
    }
    return evaluated;
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#limits.steps) throw new Error(`it takes more than ${this.#limits.steps} steps`);
  }
}

/** Python's `range`, which is counted before it is made. */
function limitedRange(items: number): (start: number, stop?: number, step?: number) => number[] {
  return (first, second, step = 1) => {
    const [start, stop] = second === undefined ? [0, first] : [first, second];
    if (step === 0) throw new Error('range() step must not be zero');
    const count = Math.max(0, Math.ceil((stop - start) / step));
    if (!(count <= items)) throw new Error(`a range of ${count} numbers; at most ${items} are allowed`);
    return Array.from({ length: count }, (_, index) => start + index * step);
  };
}
