/** Errands: orders are told early, some are changed on the way, and all are asked for at the end of the day. A test of memory. */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import {
  type Day,
  type DayOptions,
  drawDay,
  firstQuestion,
  PLACES,
  placeOf,
  SHOPS,
  type Turn,
  turnOf,
} from './town.ts';

/** `right`: questions answered rightly so far. */
export type ErrandState = Day & { readonly turn: number; readonly right: number };

const ON = 'on';

const optionsSchema = z.strictObject({
  turns: z.int().min(16).max(2000).default(24).describe('Turns of an episode'),
  orders: z
    .int()
    .min(1)
    .max(8)
    .default(2)
    .describe('Orders, each of which takes a turn to tell and two to carry out; at most a quarter of turns'),
  changes: z
    .int()
    .min(0)
    .max(8)
    .default(1)
    .describe('At most so many orders go to another place later on: each number of them is as likely'),
  wording: wordingOption,
});

/** The environment. An episode is worth 1 if every answer was right, and nothing else is paid. */
export function errands(given: DayOptions): Environment<Day, ErrandState> {
  const { turns } = given;
  const options = { ...given, orders: Math.min(given.orders, Math.floor(turns / 4)) };
  const evening = firstQuestion(options);
  const now = (state: ErrandState): Turn => turnOf(state, state.turn, evening);
  const legal = (turn: Turn): readonly string[] =>
    turn.kind === 'shop' ? SHOPS : turn.kind === 'place' ? PLACES : [ON];
  const actions = (state: ErrandState): readonly string[] => legal(now(state));
  const solve = (state: ErrandState): string => {
    const turn = now(state);
    return 'answer' in turn ? turn.answer : ON;
  };
  return defineEnvironment<Day, ErrandState>({
    name: 'errands',
    description: 'Remember orders over a day in a town: from which shop, and to which place.',
    maxTurns: turns,
    returns: [0, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: drawnTasks('errands', (rng) => drawDay(options, rng)),
    start: (day) => {
      const state = { ...day, turn: 0, right: 0 };
      return { state, messages: [{ role: 'user', content: observe(now(state)) }] };
    },
    step: (before, action) => {
      const turn = now(before);
      // What is no answer is asked again, so that the last one is missing in the end.
      if (!legal(turn).includes(action)) {
        return {
          state: before,
          observation: `invalid ${observe(turn)}`,
          ...{ reward: 0, done: false, valid: false },
          info: { credit: { dense: 0, effectiveActions: 0 } },
        };
      }
      const isRight = 'answer' in turn && turn.answer === action;
      const state = { ...before, turn: before.turn + 1, right: before.right + (isRight ? 1 : 0) };
      const done = state.turn === turns;
      const success = done && state.right === 2 * options.orders;
      return {
        state,
        observation: done ? (success ? 'right' : 'wrong') : observe(now(state)),
        ...{ reward: success ? 1 : 0, done, success, valid: true },
        info: { credit: { dense: isRight ? 1 : 0, effectiveActions: 1 } },
      };
    },
    actions,
    solve,
    // Guesses one answer in six.
    stumble: (state, rng) => (rng.chance(1 / 6) ? rng.pick(actions(state)) : solve(state)),
    notes: (state) =>
      state.orders
        .flatMap((order, index) =>
          order.told > state.turn || state.turn > evening + 2 * index + 1
            ? []
            : [noteOf(order.thing, order.shop, placeOf(state, index, state.turn))],
        )
        .join(' ') || 'nothing',
    slots: (state) =>
      Object.fromEntries(
        state.orders.flatMap((order, index) =>
          order.told > state.turn
            ? []
            : [[order.thing, `${order.shop} ${order.thing} ${placeOf(state, index, state.turn)}`]],
        ),
      ),
    render: (state) => `turn ${state.turn} of ${turns}: ${state.turn < turns ? observe(now(state)) : 'over'}`,
    natural: {
      instructions: [
        'Run errands in a town. You are told orders: a thing, the shop that has it, and the place where it goes. An order may change later.',
        `In the end you are asked for the shop and the place of each thing. Shops: ${SHOPS.join(', ')}. Places: ${PLACES.join(', ')}.`,
        `Answer a question with one word, the shop or the place. Answer everything else with ${ON}.`,
      ].join(' '),
      example: [
        ['New order: fetch a parcel from the weaver and bring it to the gate.', ON],
        ['You pass the pond and meet the weaver.', ON],
        ['Where do you fetch the parcel?', 'weaver'],
        ['Where do you bring the parcel?', 'gate'],
      ],
      observe: (state, step) => {
        if (step?.done) return step.success ? 'Every order was right.' : 'Not every order was right.';
        return `${step?.valid === false ? 'That is no answer. ' : ''}${describe(now(state))}`;
      },
    },
  });
}

/** Small models find a thing by the word before it, so the thing is said before each of its facts. */
const noteOf = (thing: string, shop: string, place: string): string => `${thing} ${shop} ${thing} ${place}`;

function observe(turn: Turn): string {
  if (turn.kind === 'order') return `order ${noteOf(turn.order.thing, turn.order.shop, turn.order.place)}`;
  if (turn.kind === 'change') return `change ${turn.thing} ${turn.place}`;
  if (turn.kind === 'walk') return `pass ${turn.place} meet ${turn.shop}`;
  return `${turn.kind === 'shop' ? 'fetch' : 'bring'} ${turn.thing}`;
}

function describe(turn: Turn): string {
  if (turn.kind === 'order') {
    const { thing, shop, place } = turn.order;
    return `New order: fetch a ${thing} from the ${shop} and bring it to the ${place}.`;
  }
  if (turn.kind === 'change') return `A change: the ${turn.thing} goes to the ${turn.place} instead.`;
  if (turn.kind === 'walk') return `You pass the ${turn.place} and meet the ${turn.shop}.`;
  return `Where do you ${turn.kind === 'shop' ? 'fetch' : 'bring'} the ${turn.thing}?`;
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'errands',
  description: 'Remember orders over a day in a town: from which shop, and to which place.',
  options: optionsSchema,
  settings: {
    model: { width: 128, layers: 3, heads: 4, hidden: 344 },
    clone: {
      demonstrations: 1000,
      beginnerShare: 0,
      randomRate: 0,
      learningRate: 1e-3,
      steps: 1000,
      batch: 16,
    },
    rollout: { tasks: 16, group: 8 },
    optimizer: { learningRate: 3e-4 },
    steps: 20,
  },
  create: ({ wording, ...options }) => fromEnvironment(errands(options), { wording }),
});
