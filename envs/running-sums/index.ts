/** Running sums: each turn names words, each word has a number, and the answer is the total so far. A test of long horizons. */

import { z } from 'zod';
import { Rng } from '../../src/core/rng.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { sumSentences } from './wording.ts';

/** What each word is worth, and the words of each turn. */
export type SumTask = { readonly worth: Readonly<Record<string, number>>; readonly words: readonly string[] };
/** `total`: of all turns so far, the right one; `told`: what the agent said last; `right`: in how many turns it was right. */
export type SumState = SumTask & {
  readonly turn: number;
  readonly total: number;
  readonly told: number;
  readonly right: number;
};

export interface SumOptions {
  readonly dictionary: 'fixed' | 'drawn';
  readonly words: number;
  readonly largest: number;
  readonly keys: number;
  readonly turns: number;
}

/** Ours, in an order that is part of the task. */
const WORDS = `apple river stone cloud bread tiger chair lemon ocean piano
  grass horse light paper spoon table whale zebra brick candy
  dream eagle flame glove honey ivory jelly knife lilac mango`.split(/\s+/);

const optionsSchema = z.strictObject({
  dictionary: z
    .enum(['fixed', 'drawn'])
    .default('fixed')
    .describe(
      'fixed: words are worth the same in every task, so that a policy may learn them; drawn: anew in each',
    ),
  words: z.int().min(2).max(WORDS.length).default(10).describe('Words of the dictionary'),
  largest: z.int().min(1).max(99).default(3).describe('A word is worth a number from minus this to this'),
  keys: z.int().min(1).max(10).default(1).describe('Words a turn'),
  turns: z.int().min(1).max(1000).default(8).describe('Turns of an episode'),
  wording: wordingOption,
});

/** The environment. Every right total pays 1 / turns; an episode without a mistake is a success. */
export function runningSums(options: SumOptions): Environment<SumTask, SumState> {
  const { largest, keys, turns } = options;
  const dictionary = (rng: Rng): Record<string, number> =>
    Object.fromEntries(
      WORDS.slice(0, options.words).map((word) => [word, rng.int(2 * largest + 1) - largest]),
    );
  const fixed = dictionary(Rng.of('running-sums', 'dictionary'));
  const highest = largest * keys * turns;
  const totals = Array.from({ length: 2 * highest + 1 }, (_, index) => String(index - highest));
  const observe = (state: SumState): string => {
    const told = worths(state).map(([word, value]) => `${word}:${value}`);
    return [...(state.turn === 0 ? ['worth', ...told] : []), 'add', ...added(state, keys)].join(' ');
  };
  return defineEnvironment<SumTask, SumState>({
    name: 'running-sums',
    description: 'Keep a running total over many turns, each of which names words that are worth numbers.',
    maxTurns: turns,
    facts: ['answer', 'correct'],
    tasks: drawnTasks('running-sums', (rng) => {
      const worth = options.dictionary === 'fixed' ? fixed : dictionary(rng);
      return { worth, words: Array.from({ length: keys * turns }, () => rng.pick(Object.keys(worth))) };
    }),
    start: (task) => {
      const state = { ...task, turn: 0, total: 0, told: 0, right: 0 };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: (before, action) => {
      // What is no number is asked again, so that a total is missing in the end.
      if (!/^(0|-?[1-9]\d{0,6})$/.test(action)) {
        return {
          state: before,
          observation: `invalid ${observe(before)}`,
          reward: 0,
          done: false,
          valid: false,
          metrics: { index: 0, prefix: 0, step: 0 },
          info: { credit: { answer: '', correct: false } },
        };
      }
      const told = Number(action);
      const gain = gainOf(before, keys);
      const total = before.total + gain;
      const index = told === total;
      const right = before.right + (index ? 1 : 0);
      const state = { ...before, turn: before.turn + 1, total, told, right };
      const done = state.turn === turns;
      return {
        state,
        observation: done ? (right === turns ? 'right' : 'wrong') : observe(state),
        reward: index ? 1 / turns : 0,
        done,
        success: done && right === turns,
        valid: true,
        metrics: {
          index: index ? 1 : 0,
          prefix: right === state.turn ? 1 : 0,
          step: told - before.told === gain ? 1 : 0,
        },
        info: { credit: { answer: action, correct: index } },
      };
    },
    anchor: ({ turn, total, told, words }) =>
      `${turn} ${total} ${told} ${words.slice(turn * keys).join(' ')}`,
    actions: () => totals,
    solve: (state) => String(state.total + gainOf(state, keys)),
    // Now and then it is one off; it goes on from there, as it reads what it said.
    stumble: (state, rng) =>
      String(state.told + gainOf(state, keys) + (rng.chance(0.15) ? rng.pick([-1, 1]) : 0)),
    render: ({ turn, total, told }) => `turn ${turn}: total ${total}, told ${told}`,
    natural: sumSentences(options),
  });
}

/** The words of the next turn. */
export function added({ words, turn }: SumState, keys: number): readonly string[] {
  return words.slice(turn * keys, (turn + 1) * keys);
}

/** What they are worth. */
function gainOf(state: SumState, keys: number): number {
  return added(state, keys).reduce((sum, word) => sum + state.worth[word]!, 0);
}

/** What the words are worth, in alphabetical order: a state that was stored keeps no other. */
export function worths({ worth }: SumTask): readonly (readonly [word: string, value: number])[] {
  return Object.entries(worth).sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * The horizon: the last turn up to which the accuracy of all turns so far is at least `share`; 0 where the first is below.
 * An agent that errs in each turn with probability 1 − p has the horizon ln(share) / ln(p), rounded down.
 */
export function horizon(prefixAccuracy_K: readonly number[], share: number): number {
  const below = prefixAccuracy_K.findIndex((accuracy) => accuracy < share);
  return below < 0 ? prefixAccuracy_K.length : below;
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'running-sums',
  description: 'Keep a running total over many turns, each of which names words that are worth numbers.',
  options: optionsSchema,
  settings: {
    model: { width: 64, layers: 2, heads: 4, hidden: 172 },
    clone: { demonstrations: 1200, beginnerShare: 0.5, randomRate: 0, steps: 500, batch: 16 },
    rollout: { tasks: 16, group: 8 },
    optimizer: { learningRate: 1e-3 },
    steps: 40,
  },
  create: ({ wording, ...options }) => fromEnvironment(runningSums(options), { wording }),
});
