/** Guess the number: ask about a hidden number until it is found; each answer narrows the interval. */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { guessSentences } from './wording.ts';

export type GuessTask = { readonly secret: number };
/** `low` and `high` are the smallest and largest number that can still be the secret. */
export type GuessState = { readonly secret: number; readonly low: number; readonly high: number };

export interface GuessOptions {
  readonly range: number;
  readonly maxTurns: number;
  readonly shaping: number;
}

const optionsSchema = z.strictObject({
  range: z.int().min(2).max(1024).default(32).describe('The secret is a number from 1 to this'),
  maxTurns: z
    .int()
    .min(1)
    .max(1024)
    .default(6)
    .describe('Guesses before the episode ends; bisection needs ceil(log2(range + 1)), 6 for 32'),
  shaping: z.number().min(0).default(0.1).describe('Reward for each bit of information an answer brings'),
  wording: wordingOption,
});

/** The most guesses that bisection needs: ceil(log2(range + 1)). */
export function bisectionTurns(range: number): number {
  return Math.ceil(Math.log2(range + 1));
}

/**
 * The environment. Finding the secret pays 1; every answer pays `shaping` times the bits by which the interval shrank
 * (so `shaping` × log2(range) in an episode that ends well, whatever its course). Every secret is in every split: what
 * is learned is how to ask, and a policy that never met a secret would rightly never guess it.
 */
export function guessNumber(options: GuessOptions): Environment<GuessTask, GuessState> {
  const { range, shaping } = options;
  return defineEnvironment<GuessTask, GuessState>({
    name: 'guess-number',
    description: 'Find a hidden number; each answer narrows the interval.',
    maxTurns: options.maxTurns,
    // With a price on information, information is part of the outcome, and no reward beside it.
    facts: [
      'answerProbability',
      'answer',
      'correct',
      'effectiveActions',
      ...(shaping === 0 ? ['dense'] : []),
    ],
    tasks: () => ({ size: range, at: (index) => ({ secret: (index % range) + 1 }) }),
    start: ({ secret }) => {
      const state = { secret, low: 1, high: range };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: (state, action) => {
      const guess = /^[1-9][0-9]*$/.test(action) ? Number(action) : Number.NaN;
      const valid = guess <= range;
      const next = valid ? narrow(state, guess) : state;
      const success = guess === state.secret;
      const bits = Math.log2(size(state)) - Math.log2(size(next));
      return {
        state: next,
        observation: success ? 'found' : `${valid ? '' : 'invalid '}${observe(next)}`,
        reward: (success ? 1 : 0) + shaping * bits,
        done: success,
        success,
        valid,
        info: {
          credit: {
            answerProbability: 1 / size(state),
            answer: valid ? action : '',
            correct: success,
            effectiveActions: bits > 0 ? 1 : 0,
            ...(shaping === 0 && { dense: bits / Math.log2(range) }),
          },
        },
      };
    },
    anchor: ({ low, high }) => `${low}..${high}`,
    actions: () => Array.from({ length: range }, (_, index) => String(index + 1)),
    truth: ({ secret }) => String(secret),
    solve: ({ low, high }) => String(Math.floor((low + high) / 2)),
    stumble: ({ low, high }, rng) => String(low + rng.int(high - low + 1)),
    render: ({ secret, low, high }) => `${low}..${high} (secret ${secret})`,
    natural: guessSentences(range),
  });
}

/** The interval that is left, restated each turn. Two words that mean something alone. */
function observe({ low, high }: GuessState): string {
  return `low${low} high${high}`;
}

function narrow({ secret, low, high }: GuessState, guess: number): GuessState {
  if (guess === secret) return { secret, low: guess, high: guess };
  return guess < secret
    ? { secret, low: Math.max(low, guess + 1), high }
    : { secret, low, high: Math.min(high, guess - 1) };
}

function size({ low, high }: GuessState): number {
  return high - low + 1;
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'guess-number',
  description: 'Find a hidden number; each answer narrows the interval.',
  options: optionsSchema,
  settings: { steps: 80, optimizer: { learningRate: 1.5e-3 } },
  create: ({ wording, ...options }) => fromEnvironment(guessNumber(options), { wording }),
});
