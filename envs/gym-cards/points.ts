/** Cards into a number, one token a turn: the rules that Points24 and EZPoints of gym-cards (GTR, arXiv 2503.08525) share. */

import {
  defineEnvironment,
  type Environment,
  type EnvironmentDefinition,
} from '../../src/env/environment.ts';
import { numbersIn, parseExpression } from '../arithmetic/expression.ts';
import { arithmetic, equals, evaluate, type Operator } from '../arithmetic/rational.ts';
import { expressions, writings } from '../arithmetic/search.ts';
import { pointsSentences } from './wording.ts';

/** `cards` in ascending order. */
export type Deal = { readonly cards: readonly number[]; readonly target: number };
export type Written = Deal & { readonly formula: readonly string[] };
/** `steps` counts refused tokens too. */
export type PointsState = Written & { readonly steps: number };

export interface PointsRules {
  readonly name: string;
  readonly description: string;
  readonly operators: readonly Operator[];
  /** `( )` where they may be written. */
  readonly parentheses: readonly string[];
  /** Tokens, also refused ones; the next one ends the episode. */
  readonly limit: number;
  /** Whether the agent thinks before it acts. */
  readonly thoughts: boolean;
  readonly tasks: EnvironmentDefinition<Deal, PointsState>['tasks'];
}

export function points(rules: PointsRules): Environment<Deal, PointsState> {
  const { operators, parentheses, limit } = rules;
  const legal = (state: PointsState): readonly string[] => [
    ...new Set(unused(state).map(String)),
    ...operators,
    ...parentheses,
    '=',
  ];
  const aim = (state: PointsState): string | undefined => solutionFrom(state, operators);
  return defineEnvironment<Deal, PointsState>({
    name: rules.name,
    description: rules.description,
    maxTurns: limit + 1,
    facts: ['effectiveActions'],
    tasks: rules.tasks,
    start: (deal) => {
      const state = { ...deal, formula: [], steps: 0 };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: (before, token) => {
      const valid = legal(before).includes(token);
      const ended = token === '=';
      const state = {
        ...before,
        formula: valid && !ended ? [...before.formula, token] : before.formula,
        steps: before.steps + 1,
      };
      const success = ended && isRight(before);
      const done = ended || state.steps > limit;
      const said = success ? 'right' : done ? 'wrong' : observe(state);
      return {
        state,
        observation: valid || done ? said : `invalid ${said}`,
        reward: success ? 10 : done || !valid ? -1 : 0,
        done,
        success,
        valid,
        info: { credit: { effectiveActions: valid ? 1 : 0 } },
      };
    },
    anchor: ({ cards, target, formula }) => `${cards.join(' ')} = ${target} ${formula.join(' ')}`,
    actions: legal,
    solve: (state) => aim(state)?.split(' ')[state.formula.length] ?? '=',
    stumble: (state, rng) => {
      // It writes what is well-formed, and does not reckon.
      const left = unused(state);
      const afterNumber = /^\d|\)/.test(state.formula.at(-1) ?? '');
      if (left.length === 0) return '=';
      return afterNumber ? rng.pick(operators) : String(rng.pick(left));
    },
    ...(rules.thoughts && {
      correctThought: (state, thought) => {
        const right = aim(state);
        // Nothing is right any more: a player says so, and nobody is corrected.
        if (right === undefined) return thought === '' ? 'hopeless' : thought;
        const aimed = thought.replace(/^aim /, '');
        const leads = `${aimed} `.startsWith(`${[...state.formula, ''].join(' ')}`);
        return leads && solutionsOf(state, operators).includes(aimed) ? thought : `aim ${right}`;
      },
    }),
    render: (state) => `${state.cards.join(' ')} → ${state.target}:  ${state.formula.join(' ')}`,
    natural: pointsSentences(rules),
  });
}

/** Cards that the formula has not used. */
export function unused({ cards, formula }: Written): readonly number[] {
  const left = [...cards];
  for (const token of formula) {
    const place = left.indexOf(Number(token));
    if (place >= 0) left.splice(place, 1);
  }
  return left;
}

function observe(state: PointsState): string {
  const { cards, target, formula } = state;
  return ['cards', ...cards, 'target', target, 'left', ...unused(state), 'formula', ...formula].join(' ');
}

/** Whether the formula makes the target of all the cards. */
function isRight({ cards, target, formula }: PointsState): boolean {
  const expression = parseExpression(formula, arithmetic);
  const value = expression && evaluate(expression);
  return value !== undefined && equals(value, target) && numbersIn(expression!).length === cards.length;
}

const known = new Map<string, readonly string[]>();
const MOST_KEPT = 5000;

/** Every formula of a deal that makes its target, shortest first; doubled parentheses are left out. */
export function solutionsOf({ cards, target }: Deal, operators: readonly Operator[]): readonly string[] {
  const key = `${cards.join(' ')} ${target} ${operators.length}`;
  let found = known.get(key);
  if (!found) {
    const right = [...expressions(cards, operators)].filter(({ value }) => equals(value, target));
    found = [...new Set(right.flatMap(({ expression }) => writings(expression)))].sort(
      (a, b) => a.length - b.length || (a < b ? -1 : 1),
    );
    if (known.size >= MOST_KEPT) known.clear();
    known.set(key, found);
  }
  return found;
}

/** The shortest solution that begins with what is written; undefined where none does. */
function solutionFrom(state: PointsState, operators: readonly Operator[]): string | undefined {
  const written = [...state.formula, ''].join(' ');
  return solutionsOf(state, operators).find((solution) => `${solution} `.startsWith(written));
}
