/** Points24: four cards into 24, one token a turn. Rules of gym-cards, on which GTR (arXiv 2503.08525) trains. */

import { z } from 'zod';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { OPERATORS } from '../arithmetic/rational.ts';
import { points, solutionsOf } from '../gym-cards/points.ts';

const optionsSchema = z.strictObject({
  faces: z
    .enum(['ten', 'rank'])
    .default('ten')
    .describe('ten: jack, queen and king count 10; rank: 11, 12 and 13'),
  deals: z
    .enum(['all', 'solvable'])
    .default('all')
    .describe('all: as dealt, 27% without a solution, as in gym-cards; solvable: only those with one'),
  thoughts: z
    .boolean()
    .default(true)
    .describe(
      'Whether the agent thinks before each token; scripted players think right, and gtr corrects thoughts',
    ),
  wording: wordingOption,
});

export const TARGET = 24;
const CARDS = 4;

type Options = Omit<z.output<typeof optionsSchema>, 'wording'>;

/** The environment. The right formula pays 10; a wrong one, a refused token and one after the 20th −1. */
export function points24({ faces, deals, thoughts }: Options) {
  return points({
    name: 'points24',
    description: 'Make 24 of four cards, writing one token of the formula a turn.',
    operators: OPERATORS,
    parentheses: ['(', ')'],
    limit: 20,
    thoughts,
    tasks: drawnTasks(
      'points24',
      (rng) => {
        const ranks = Array.from({ length: CARDS }, () => 1 + rng.int(13));
        const cards = ranks
          .map((rank) => (faces === 'ten' ? Math.min(rank, 10) : rank))
          .sort((a, b) => a - b);
        return { cards, target: TARGET };
      },
      (deal) => deals === 'all' || solutionsOf(deal, OPERATORS).length > 0,
    ),
  });
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'points24',
  description: 'Make 24 of four cards, writing one token of the formula a turn.',
  options: optionsSchema,
  create: ({ wording, ...options }) => fromEnvironment(points24(options), { wording }),
});
