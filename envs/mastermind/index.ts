/** Mastermind: find a code of colours; each guess is told how many pegs are right, and how many stand elsewhere. */

import { z } from 'zod';
import type { Json } from '../../src/core/json/json.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { Codes } from './codes.ts';
import { mastermindSentences } from './wording.ts';

/** The number of the code. */
export type MastermindTask = { readonly secret: number };
export type MastermindState = MastermindTask & {
  readonly guesses: readonly number[];
  readonly tries: number;
};

export interface MastermindOptions {
  readonly pegs: number;
  readonly colours: number;
  readonly tries: number;
  readonly listed: number;
}

const optionsSchema = z.strictObject({
  pegs: z.int().min(2).max(4).default(3).describe('Places of the code'),
  colours: z.int().min(2).max(6).default(4).describe('Colours of a peg, which may repeat'),
  tries: z.int().min(1).max(20).default(6).describe('Guesses; 5 are enough for 4 pegs of 6 colours'),
  listed: z
    .int()
    .min(0)
    .max(20)
    .default(4)
    .describe('As soon as no more codes are possible than this, they are listed in place of the answers'),
  wording: wordingOption,
});

/** The environment. Finding the code pays 1. */
export function mastermind(options: MastermindOptions): Environment<MastermindTask, MastermindState> {
  const { tries, listed } = options;
  const codes = new Codes(options.pegs, options.colours);

  /** All answers, or the codes that are left. A comma ends each. */
  function observe({ secret, guesses }: MastermindState): string {
    const left = codes.survivors(secret, guesses);
    if (left.length <= listed) return ['possible', ...left.map((code) => `${codes.texts[code]} ,`)].join(' ');
    const told = guesses.map((guess) => {
      const { exact, near } = codes.answer(guess, secret);
      return `${codes.texts[guess]} exact${exact} near${near} ,`;
    });
    return ['guesses', ...told].join(' ');
  }

  /** What credit may know: how sure the code was before the guess, and how much of the doubt it took away. */
  function known(secret: number, before: readonly number[], guess: number): Json {
    const possible = codes.survivors(secret, before).length;
    const left = guess < 0 ? possible : codes.survivors(secret, [...before, guess]).length;
    return {
      credit: {
        answerProbability: 1 / possible,
        dense: Math.log2(possible / left) / Math.log2(codes.texts.length),
        answer: codes.texts[guess] ?? '',
        correct: guess === secret,
        effectiveActions: left < possible ? 1 : 0,
      },
    };
  }

  return defineEnvironment<MastermindTask, MastermindState>({
    name: 'mastermind',
    description: 'Find a code of colours by guesses, told how many pegs are right.',
    maxTurns: tries,
    returns: [0, 1],
    facts: ['answerProbability', 'dense', 'answer', 'correct', 'effectiveActions'],
    tasks: codes.texts.map((_, secret) => ({ secret })),
    start: ({ secret }) => {
      const state = { secret, guesses: [], tries: 0 };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: (before, action) => {
      const guess = codes.texts.indexOf(action);
      const valid = guess >= 0;
      const state = {
        ...before,
        guesses: valid ? [...before.guesses, guess] : before.guesses,
        tries: before.tries + 1,
      };
      const success = guess === before.secret;
      const done = success || state.tries >= tries;
      const said = success ? 'found' : done ? 'failed' : observe(state);
      return {
        state,
        observation: valid || done ? said : `invalid ${said}`,
        reward: success ? 1 : 0,
        done,
        success,
        valid,
        info: known(before.secret, before.guesses, guess),
      };
    },
    anchor: (state) => observe(state),
    actions: () => codes.texts,
    truth: ({ secret }) => codes.texts[secret]!,
    solve: ({ secret, guesses }) => codes.texts[codes.best(secret, guesses)]!,
    // Half of the time it forgets all answers but the last; otherwise it guesses at random.
    stumble: ({ secret, guesses }, rng) =>
      codes.texts[rng.pick(codes.survivors(secret, rng.chance(0.5) ? guesses.slice(-1) : []))]!,
    render: (state) => `${observe(state)} (secret ${codes.texts[state.secret]})`,
    natural: mastermindSentences(options, codes),
  });
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'mastermind',
  description: 'Find a code of colours by guesses, told how many pegs are right.',
  options: optionsSchema,
  settings: {
    model: { width: 64, layers: 2, heads: 4, hidden: 172 },
    clone: { demonstrations: 1200, beginnerShare: 0.5, randomRate: 0, steps: 500, batch: 16 },
    rollout: { tasks: 16, group: 8 },
    // Three times as much forgets codes that training never asks for.
    optimizer: { learningRate: 3e-4 },
    steps: 40,
  },
  create: ({ wording, ...options }) => fromEnvironment(mastermind(options), { wording }),
});
