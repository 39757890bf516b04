/** Hidden rules: ask which triples of numbers keep a rule, then say the rule. The idea is WILT's; rules and words are ours. */

import { z } from 'zod';
import { Rng } from '../../src/core/rng.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { RULES, readRule, sameRule, type Triple } from './rule.ts';
import { ruleSentences } from './wording.ts';

/** The text of a rule. */
export type RuleTask = { readonly rule: string };
/** `possible` are the numbers of the rules that agree with all answers so far. */
export type RuleState = RuleTask & {
  readonly turn: number;
  readonly possible: readonly number[];
  readonly told: string;
};

export interface RuleOptions {
  readonly queries: number;
}

const optionsSchema = z.strictObject({
  queries: z.int().min(0).max(100).default(12).describe('Questions; one more turn is left to say the rule'),
  wording: wordingOption,
});

/** Questions that scripted players ask: they tell any two rules of the game apart. */
export const QUERIES: readonly Triple[] = (() => {
  const rng = Rng.of('hidden-rules', 'queries');
  const near = () => rng.int(13) - 4;
  const drawn = Array.from({ length: 120 }, (): Triple => [near(), near(), near()]);
  const special: Triple[] = [
    [3, 4, 5],
    [2, 4, 6],
    [1, 2, 3],
    [3, 2, 1],
    [5, 5, 5],
    [0, 0, 0],
    [2, 2, 4],
    [4, 2, 2],
    [2, 4, 2],
  ];
  return [...drawn, ...special];
})();

/** The answers of each rule of the game to each of these questions. */
const ANSWERS: readonly (readonly boolean[])[] = RULES.map(({ rule }) => QUERIES.map(rule));
const everyRule = RULES.map((_, number) => number);
const LONGEST_NUMBER = 1e6;

/** The environment. The right rule pays 1; a rule, right or wrong, ends the episode. */
export function hiddenRules({ queries }: RuleOptions): Environment<RuleTask, RuleState> {
  const actions = [...QUERIES.map((triple) => triple.join(' ')), ...RULES.map(({ text }) => `rule ${text}`)];
  return defineEnvironment<RuleTask, RuleState>({
    name: 'hidden-rules',
    description: 'Find the rule that triples of numbers keep, by asking about triples.',
    maxTurns: queries + 1,
    returns: [0, 1],
    facts: ['answerProbability', 'dense', 'answer', 'correct', 'effectiveActions'],
    tasks: RULES.map(({ text }) => ({ rule: text })),
    start: (task) => ({
      state: { ...task, turn: 0, possible: everyRule, told: '' },
      messages: [{ role: 'user', content: 'ask' }],
    }),
    step: (before, action) => {
      const secret = readRule(before.rule)!;
      const triple = readTriple(action);
      const guess = action.startsWith('rule ') ? readRule(action.slice('rule '.length)) : undefined;
      const success = guess !== undefined && sameRule(guess, secret);
      const told = triple ? (secret(triple) ? 'yes' : 'no') : before.told;
      const possible = triple
        ? before.possible.filter((number) => RULES[number]!.rule(triple) === secret(triple))
        : before.possible;
      const state = { ...before, turn: before.turn + 1, told, possible };
      const done = guess !== undefined || state.turn > queries;
      const valid = guess !== undefined || triple !== undefined;
      const said = done ? (success ? 'right' : 'wrong') : told || 'ask';
      const left = success ? 1 : possible.length;
      return {
        state,
        observation: valid || done ? said : `invalid ${said}`,
        reward: success ? 1 : 0,
        done,
        success,
        valid,
        info: {
          credit: {
            answerProbability: 1 / before.possible.length,
            dense: Math.log2(before.possible.length / left) / Math.log2(RULES.length),
            answer: guess ? action : '',
            correct: success,
            effectiveActions: left < before.possible.length || success ? 1 : 0,
          },
        },
      };
    },
    anchor: ({ rule, possible }) => `${rule} ${possible.join(' ')}`,
    actions: () => actions,
    truth: ({ rule }) => `rule ${rule}`,
    solve: ({ possible, turn }) => nextMove(possible, turn >= queries),
    // It asks at random, and guesses among what is left a little early.
    stumble: ({ possible, turn }, rng) =>
      possible.length <= 3 || turn >= queries
        ? `rule ${RULES[rng.pick(possible)]!.text}`
        : rng.pick(QUERIES).join(' '),
    render: ({ rule, possible }) => `${possible.length} rules are possible (it is ${rule})`,
    natural: ruleSentences(queries),
  });
}

/** The question whose answer is most even among the rules that are left; the rule, where one is left or no question is. */
function nextMove(possible: readonly number[], last: boolean): string {
  if (possible.length === 1 || last) return `rule ${RULES[possible[0]!]!.text}`;
  const uneven = QUERIES.map((_, query) => {
    const yes = possible.reduce((sum, rule) => sum + (ANSWERS[rule]![query] ? 1 : 0), 0);
    return Math.abs(2 * yes - possible.length);
  });
  return QUERIES[uneven.indexOf(Math.min(...uneven))]!.join(' ');
}

/** Three whole numbers with spaces or commas between. */
function readTriple(text: string): Triple | undefined {
  const words = text.trim().split(/[\s,]+/);
  const numbers = words.map((word) => (/^-?\d{1,7}$/.test(word) ? Number(word) + 0 : Number.NaN));
  const [x, y, z] = numbers;
  const usable = numbers.length === 3 && numbers.every((number) => Math.abs(number) <= LONGEST_NUMBER);
  return usable ? [x!, y!, z!] : undefined;
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'hidden-rules',
  description: 'Find the rule that triples of numbers keep, by asking about triples.',
  options: optionsSchema,
  create: ({ wording, ...options }) => fromEnvironment(hiddenRules(options), { wording }),
});
