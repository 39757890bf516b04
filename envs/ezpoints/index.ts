/** EZPoints: two cards into 12, one token a turn. Rules of gym-cards, on which GTR (arXiv 2503.08525) trains. */

import { z } from 'zod';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import type { Operator } from '../arithmetic/rational.ts';
import { type Deal, points, solutionsOf } from '../gym-cards/points.ts';

const optionsSchema = z.strictObject({
  targets: z
    .enum(['twelve', 'any'])
    .default('twelve')
    .describe(
      'twelve: the 7 deals that make 12, the same in every split; any: the target is drawn, and splits differ',
    ),
  thoughts: z
    .boolean()
    .default(true)
    .describe(
      'Whether the agent thinks before each token; scripted players think right, and gtr corrects thoughts',
    ),
  wording: wordingOption,
});

const OPERATORS: readonly Operator[] = ['+', '*'];

/** Every two cards that make 12. */
export const DEALS: readonly Deal[] = Array.from({ length: 100 }, (_, number) => ({
  cards: [1 + Math.floor(number / 10), 1 + (number % 10)],
  target: 12,
})).filter((deal) => deal.cards[0]! <= deal.cards[1]! && solutionsOf(deal, OPERATORS).length > 0);

type Options = Omit<z.output<typeof optionsSchema>, 'wording'>;

/** The environment. The right formula pays 10; a wrong one, a refused token and one after the fifth −1. */
export function ezPoints({ targets, thoughts }: Options) {
  return points({
    name: 'ezpoints',
    description: 'Make 12 of two cards with + or *, writing one token of the formula a turn.',
    operators: OPERATORS,
    parentheses: [],
    limit: 5,
    thoughts,
    tasks:
      targets === 'twelve'
        ? () => DEALS
        : drawnTasks('ezpoints', (rng) => {
            const cards = [1 + rng.int(10), 1 + rng.int(10)].sort((a, b) => a - b);
            return { cards, target: rng.chance(0.5) ? cards[0]! + cards[1]! : cards[0]! * cards[1]! };
          }),
  });
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'ezpoints',
  description: 'Make 12 of two cards with + or *, writing one token of the formula a turn.',
  options: optionsSchema,
  create: ({ wording, ...options }) => fromEnvironment(ezPoints(options), { wording }),
});
