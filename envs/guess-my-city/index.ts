/** Guess My City of LMRL-Gym (arXiv 2311.18232): open questions, answered from a table. */

import { z } from 'zod';
import type { Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { type AskingState, askingGame, type Thing } from '../questions/questions.ts';
import { COUNTRIES, LIST } from './cities.ts';

export const QUESTIONS: Readonly<Record<string, string>> = {
  continent: 'On which continent is it?',
  country: 'In which country is it?',
  capital: 'Is it a capital?',
  size: 'How large is it?',
};

/** Answers never hold the name of a city. */
export const CITIES: readonly Thing[] = LIST.map(([starred, country], rank) => {
  const name = starred.replace('*', '');
  const named = name === country ? 'a city state' : country;
  return {
    name,
    answers: {
      continent: COUNTRIES[country]!,
      country: named,
      capital: starred === name ? 'no' : 'yes',
      size: ['huge', 'very large', 'large', 'middling', 'smaller'][Math.floor(rank / 20)]!,
    },
  };
});

const options = z.strictObject({
  cities: z
    .int()
    .min(2)
    .max(CITIES.length)
    .default(CITIES.length)
    .describe('Use the largest cities of the list'),
  listed: z
    .int()
    .min(0)
    .default(6)
    .describe('Name the cities that are still possible when there are at most this many'),
  maxTurns: z.int().min(1).max(100).default(20).describe('Questions, wrong names among them'),
  wording: wordingOption,
});

export function guessMyCity({
  cities,
  listed,
  maxTurns,
}: {
  readonly cities: number;
  readonly listed: number;
  readonly maxTurns: number;
}): Environment<string, AskingState> {
  const things = CITIES.slice(0, cities);
  return askingGame({
    ...{ name: 'guess-my-city', things, questions: QUESTIONS, maxTurns, listed },
    description: 'Find a hidden city by open questions.',
    rules: [
      `I live in one of the ${cities} largest cities of a list, and you find out which by at most ${maxTurns} questions. You may ask: ${Object.values(QUESTIONS).join(' ')}`,
      `In the end say its name. The cities are: ${things.map(({ name }) => name).join(', ')}.`,
      'Answer with one question or one name and nothing else.',
    ].join(' '),
  });
}

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'guess-my-city',
  description: 'Find a hidden city by open questions.',
  options,
  settings: { steps: 100, model: { width: 64, layers: 2, hidden: 172 }, clone: { steps: 200 } },
  create: ({ wording, ...rest }) => fromEnvironment(guessMyCity(rest), { wording }),
});
