/** Twenty Questions of LMRL-Gym (arXiv 2311.18232), with a table of features in the place of a model that answers. */

import { z } from 'zod';
import type { Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { type AskingState, askingGame } from '../questions/questions.ts';
import { OBJECTS, QUESTIONS } from './objects.ts';

const options = z.strictObject({
  objects: z.int().min(2).max(OBJECTS.length).default(32).describe('Use the first objects of the list'),
  listed: z
    .int()
    .min(0)
    .default(4)
    .describe('Name the objects that are still possible when there are at most this many'),
  maxTurns: z.int().min(1).max(100).default(20).describe('Questions, wrong names among them'),
  wording: wordingOption,
});

export function twentyQuestions({
  objects,
  listed,
  maxTurns,
}: {
  readonly objects: number;
  readonly listed: number;
  readonly maxTurns: number;
}): Environment<string, AskingState> {
  const things = OBJECTS.slice(0, objects);
  return askingGame({
    ...{ name: 'twenty-questions', things, questions: QUESTIONS, maxTurns, listed },
    description: 'Find a hidden object by questions that are answered with yes or no.',
    rules: [
      `I think of an object, and you find out which by at most ${maxTurns} questions. You may ask: ${Object.values(QUESTIONS).join(' ')}`,
      `In the end say its name. The objects are: ${things.map(({ name }) => name).join(', ')}.`,
      'Answer with one question or one name and nothing else.',
    ].join(' '),
  });
}

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'twenty-questions',
  description: 'Find a hidden object by questions that are answered with yes or no.',
  options,
  settings: { steps: 100, model: { width: 64, layers: 2, hidden: 172 }, clone: { steps: 200 } },
  create: ({ wording, ...rest }) => fromEnvironment(twentyQuestions(rest), { wording }),
});
