/** Wordle: find the hidden five-letter word of a known list in six guesses. A guess is one word of that list. */

import { z } from 'zod';
import { TurnwiseError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json/json.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { Dictionary, type FeedbackRule, feedback } from './feedback.ts';
import { wordleSentences } from './wording.ts';
import { loadWords, WORDS } from './words.ts';

export type WordleTask = { readonly secret: string };
export type WordleState = {
  readonly secret: string;
  /** Valid guesses so far. */
  readonly guesses: readonly string[];
  /** Tries used, invalid ones too. */
  readonly tries: number;
};

export interface WordleOptions {
  readonly words: number;
  readonly wordsFile: string;
  readonly feedbackRule: FeedbackRule;
  readonly listed: number;
}

const TRIES = 6;

const optionsSchema = z.strictObject({
  words: z.int().min(2).default(48).describe('Use the first words of the list; 0.6M parameters learn 48'),
  wordsFile: z
    .string()
    .default('')
    .describe('A text file of five-letter words; empty: the list that is shipped'),
  feedbackRule: z
    .enum(['letter', 'official'])
    .default('official')
    .describe(
      'How repeated letters are coloured: as the newspapers do, or each position by itself (LMRL-Gym)',
    ),
  listed: z
    .int()
    .min(0)
    .default(8)
    .describe('Name the words that are still possible when there are at most this many; 0: letters only'),
  wording: wordingOption,
});

/**
 * The environment. Rewards as in LMRL-Gym (arXiv 2311.18232): −1 a guess, 0 for the one that solves it; a word outside
 * the vocabulary costs a try and −1. Every word is in every split: the list is the task.
 * Deviations: (1) the secret is fixed at the start rather than drawn anew among the survivors, which has the same
 * distribution of games; (2) the observation restates what is known instead of showing a guess and its colours.
 */
export function wordle(options: WordleOptions): Environment<WordleTask, WordleState> {
  const dictionary = new Dictionary(chooseWords(options), options.feedbackRule);
  const { words } = dictionary;

  /** What is known, in words that mean something alone: the survivors where they are few, else letters with colours. */
  function observe({ secret, guesses }: WordleState): string {
    const survivors = dictionary.survivors(secret, guesses);
    if (survivors.length <= options.listed) return [`left${survivors.length}`, ...survivors].join(' ');
    const letters = new Set(
      guesses.flatMap((guess) =>
        feedback(guess, secret, options.feedbackRule).map((colour, i) => `${i + 1}:${guess[i]}=${colour}`),
      ),
    );
    return ['many', ...letters].join(' ');
  }

  /** What credit may know of a guess: how sure the word was before it, and how much of the doubt it took away. */
  function known(secret: string, before: readonly string[], guess: string | undefined): Json {
    const after = guess === undefined ? before : [...before, guess];
    const possible = dictionary.survivors(secret, before).length;
    const left = dictionary.survivors(secret, after).length;
    const letters = new Set(secret);
    const tried = new Set(after.join(''));
    return {
      credit: {
        answerProbability: 1 / possible,
        dense: Math.log2(possible / left) / Math.log2(words.length),
        answer: guess ?? '',
        correct: guess === secret,
        entityShare: [...letters].filter((letter) => tried.has(letter)).length / letters.size,
      },
    };
  }

  return defineEnvironment<WordleTask, WordleState>({
    name: 'wordle',
    description: 'Find a hidden five-letter word of a known list in six guesses.',
    maxTurns: TRIES,
    returns: [-TRIES, 0],
    facts: ['answerProbability', 'dense', 'answer', 'correct', 'entityShare'],
    tasks: () => ({ size: words.length, at: (index) => ({ secret: words[index % words.length]! }) }),
    start: ({ secret }) => {
      const state = { secret, guesses: [], tries: 0 };
      return { state, messages: [{ role: 'user', content: observe(state) }] };
    },
    step: ({ secret, guesses, tries }, action) => {
      const valid = dictionary.has(action);
      const state = { secret, guesses: valid ? [...guesses, action] : guesses, tries: tries + 1 };
      const info = known(secret, guesses, valid ? action : undefined);
      if (action === secret) {
        return { state, observation: 'solved', reward: 0, done: true, success: true, valid, info };
      }
      if (state.tries >= TRIES) return { state, observation: 'failed', reward: -1, done: true, valid, info };
      const observation = valid ? observe(state) : `invalid ${observe(state)}`;
      return { state, observation, reward: -1, done: false, valid, info };
    },
    anchor: (state) => `${state.guesses.length} ${observe(state)}`,
    actions: () => words,
    truth: ({ secret }) => secret,
    solve: ({ secret, guesses }) => dictionary.mostTelling(secret, guesses),
    stumble: ({ secret, guesses }, rng) =>
      // Half of the time it forgets all answers but the last; otherwise it guesses at random.
      rng.pick(rng.chance(0.5) ? dictionary.survivors(secret, guesses.slice(-1)) : words),
    render: ({ secret, guesses }) =>
      guesses
        .map(
          (guess) =>
            `${guess} ${feedback(guess, secret, options.feedbackRule)
              .map((c) => MARKS[c])
              .join('')}`,
        )
        .join('\n'),
    natural: wordleSentences(dictionary, options.listed),
  });
}

const MARKS = { green: 'G', yellow: 'y', grey: '.' } as const;

function chooseWords({ words, wordsFile }: WordleOptions): readonly string[] {
  const list = wordsFile === '' ? WORDS : loadWords(wordsFile);
  if (words <= list.length) return list.slice(0, words);
  throw new TurnwiseError('word-list-too-short', {
    what: 'wordle needs more words than its list has',
    seen: `words = ${words}`,
    allowed: `2 to ${list.length}`,
    next: 'Lower words, or name a longer list with wordsFile.',
  });
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'wordle',
  description: 'Find a hidden five-letter word of a known list in six guesses.',
  options: optionsSchema,
  settings: { steps: 60 },
  create: ({ wording, ...options }) => fromEnvironment(wordle(options), { wording }),
});
