/** Kuhn poker as a world: self-play with hidden cards, where exploitability can be computed exactly. */

import { z } from 'zod';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromGame } from '../../src/env/from-game.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { kuhnPokerGame } from './game.ts';

const options = z.strictObject({
  wording: wordingOption,
});

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'kuhn-poker',
  description: 'Poker with three cards and one bet: two roles, hidden cards, mixed equilibrium.',
  options,
  // The entropy bonus keeps both seats mixing: without it self-play locks into pure strategies, which always lose to someone.
  settings: {
    steps: 400,
    model: { width: 64, layers: 2, hidden: 172 },
    clone: { demonstrations: 1000, randomRate: 1, steps: 100 },
    rollout: { tasks: 32, group: 8 },
    objective: { entropyCoefficient: 0.1 },
    optimizer: { learningRate: 1e-3 },
    evaluation: { every: 50, tasks: 60, finalTasks: 60 },
    checkpoint: { every: 50 },
  },
  create: ({ wording }) => fromGame(kuhnPokerGame(), { wording }),
});
