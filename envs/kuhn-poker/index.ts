/** Kuhn poker as a world: self-play with hidden cards, where exploitability can be computed exactly. */

import { z } from 'zod';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromGame } from '../../src/env/from-game.ts';
import { kuhnPokerGame } from './game.ts';

const options = z.strictObject({
  rules: z.boolean().default(false).describe('Open with the rules in prose, for models that can read'),
});

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'kuhn-poker',
  description: 'Poker with three cards and one bet: two roles, hidden cards, mixed equilibrium.',
  options,
  create: ({ rules }) => fromGame(kuhnPokerGame(rules)),
});
