/** A text shop after WebShop (arXiv 2207.01206): search, look at products, choose options, buy what was asked for. */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import {
  act,
  browseFrom,
  clicks,
  drawWish,
  entering,
  planFrom,
  productOf,
  queries,
  type Visit,
  worth,
} from './pages.ts';
import type { Wish } from './reward.ts';
import { describe, naturalWording, observe } from './wording.ts';

export interface ShopOptions {
  readonly products: number;
  readonly results: number;
  readonly maxTurns: number;
}

const optionsSchema = z.strictObject({
  products: z.int().min(18).max(2000).default(120).describe('Products of the catalogue'),
  results: z.int().min(1).max(10).default(3).describe('Results on a page; 10 in WebShop'),
  maxTurns: z.int().min(1).max(100).default(15).describe('Actions before the episode fails'),
  wording: wordingOption,
});

/** The environment. A purchase ends the episode and pays 0 to 1; nothing else pays or costs. */
export function shop({ maxTurns, ...size }: ShopOptions): Environment<Wish, Visit> {
  return defineEnvironment<Wish, Visit>({
    name: 'shop',
    description: 'Buy what is asked for in a shop: search, look, choose options, buy.',
    maxTurns,
    returns: [0, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: drawnTasks(`shop ${size.products}`, (rng) => drawWish(size, rng)),
    start: (wish) => ({
      state: entering(wish),
      messages: [{ role: 'user', content: observe(size, entering(wish)) }],
    }),
    step: (visit, action) => {
      const next = act(size, visit, action);
      const state = next ?? visit;
      const done = state.page === 'bought';
      const reward = done ? worth(size, visit.wish, productOf(size, state.item), state.chosen) : 0;
      const success = done && reward === 1;
      const left = done ? 0 : planFrom(size, state).length;
      return {
        state,
        observation: done
          ? `bought ${success ? 'right' : 'wrong'}`
          : next
            ? observe(size, state)
            : `invalid ${observe(size, state)}`,
        reward,
        done,
        success,
        valid: next !== undefined,
        info: {
          credit: {
            dense: done && !success ? 0 : planFrom(size, visit).length - left,
            effectiveActions: next ? 1 : 0,
          },
        },
      };
    },
    actions: (visit) =>
      visit.page === 'search'
        ? queries(size, visit).map((query) => `search ${query}`)
        : [...clicks(size, visit).keys()].map((value) => `click ${value}`),
    solve: (visit) => planFrom(size, visit)[0]!,
    stumble: (visit, rng) => browseFrom(size, visit, rng),
    render: (visit) => describe(size, visit),
    natural: naturalWording(size),
  });
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'shop',
  description: 'Buy what is asked for in a shop: search, look, choose options, buy.',
  options: optionsSchema,
  settings: {
    model: { width: 64, layers: 2, heads: 4, hidden: 172 },
    clone: { demonstrations: 1000, beginnerShare: 0.5, randomRate: 0.05, steps: 300, batch: 16 },
    rollout: { tasks: 16, group: 8 },
    optimizer: { learningRate: 3e-4 },
    steps: 100,
  },
  create: ({ wording, ...options }) => fromEnvironment(shop(options), { wording }),
});
