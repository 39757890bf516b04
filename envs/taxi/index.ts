/** Taxi: fetch a passenger at one of four stations and bring them to another. Rules of Gymnasium's Taxi-v3 (MIT). */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { type Cell, distance, drive, SIDES, SIZE, STATIONS, sameCell } from './town.ts';
import { taxiSentences } from './wording.ts';

/** `passenger` and `destination` are numbers of stations. */
export type TaxiTask = Cell & { readonly passenger: number; readonly destination: number };
/** `passenger` is `ABOARD` on the way; `way` is the fewest actions from the start. */
export type TaxiState = TaxiTask & { readonly way: number };

export const ABOARD = -1;
export const ACTIONS = [...SIDES, 'pickup', 'dropoff'] as const;

/** Taxi anywhere, the passenger not at the destination: 300. */
export const STARTS: readonly TaxiTask[] = Array.from({ length: SIZE * SIZE * 16 }, (_, number) => ({
  row: Math.floor(number / 16 / SIZE),
  column: Math.floor(number / 16) % SIZE,
  passenger: Math.floor(number / 4) % 4,
  destination: number % 4,
})).filter(({ passenger, destination }) => passenger !== destination);

const optionsSchema = z.strictObject({
  maxTurns: z
    .int()
    .min(1)
    .max(1000)
    .default(30)
    .describe('Actions before the episode ends; 200 in Gymnasium, and the best driver needs at most 18'),
  wording: wordingOption,
});

/** Fewest actions to the end. */
export function actionsLeft(state: TaxiTask): number {
  const destination = STATIONS[state.destination]!;
  if (state.passenger === ABOARD) return distance(state, destination) + 1;
  const waiting = STATIONS[state.passenger]!;
  return distance(state, waiting) + 1 + distance(waiting, destination) + 1;
}

/** Where the taxi has to go next. */
export function nextStop({ passenger, destination }: TaxiTask): (typeof STATIONS)[number] {
  return STATIONS[passenger === ABOARD ? destination : passenger]!;
}

/** The environment. Every action costs 1, one that is refused 10; the passenger at the destination pays 20 instead. */
export function taxi(options: { readonly maxTurns: number }): Environment<TaxiTask, TaxiState> {
  return defineEnvironment<TaxiTask, TaxiState>({
    name: 'taxi',
    description: 'Fetch a passenger at one station of a small town and bring them to another.',
    maxTurns: options.maxTurns,
    facts: ['dense', 'effectiveActions'],
    tasks: STARTS,
    start: (task) => ({
      state: { ...task, way: actionsLeft(task) },
      messages: [{ role: 'user', content: observe(task) }],
    }),
    step: (state, action) => {
      const valid = (ACTIONS as readonly string[]).includes(action);
      const { next, reward, done } = act(state, action);
      const dense = ((done ? 0 : -actionsLeft(next)) + actionsLeft(state)) / state.way;
      const said = valid ? observe(next) : `invalid ${observe(next)}`;
      return {
        state: next,
        observation: done ? 'arrived' : said,
        reward,
        done,
        success: done,
        valid,
        info: { credit: { dense, effectiveActions: placeOf(next) === placeOf(state) && !done ? 0 : 1 } },
      };
    },
    anchor: key,
    actions: () => ACTIONS,
    solve: (state, rng) => {
      const left = (action: string): number => {
        const { next, reward, done } = act(state, action);
        return done ? 0 : reward < -1 ? Number.POSITIVE_INFINITY : actionsLeft(next);
      };
      const fewest = Math.min(...ACTIONS.map(left));
      return rng.pick(ACTIONS.filter((action) => left(action) === fewest));
    },
    stumble: (state, rng) => {
      // It forgets that there are walls, and now and then what it is doing.
      if (rng.chance(0.3)) return rng.pick(ACTIONS);
      const { row, column } = nextStop(state);
      const towards = [
        ...(row < state.row ? ['north'] : row > state.row ? ['south'] : []),
        ...(column > state.column ? ['east'] : column < state.column ? ['west'] : []),
      ];
      return towards.length > 0 ? rng.pick(towards) : state.passenger === ABOARD ? 'dropoff' : 'pickup';
    },
    render: (state) =>
      Array.from({ length: SIZE }, (_, row) =>
        Array.from({ length: SIZE }, (_, column) => mark(state, { row, column })).join(' '),
      ).join('\n'),
    natural: taxiSentences,
  });
}

interface Effect {
  readonly next: TaxiState;
  readonly reward: number;
  readonly done: boolean;
}

function act(state: TaxiState, action: string): Effect {
  const side = SIDES.find((name) => name === action);
  if (side) return { next: { ...state, ...drive(state, side) }, reward: -1, done: false };
  const station = STATIONS.findIndex((place) => sameCell(place, state));
  if (action === 'pickup' && station >= 0 && station === state.passenger)
    return { next: { ...state, passenger: ABOARD }, reward: -1, done: false };
  if (action === 'dropoff' && station >= 0 && state.passenger === ABOARD) {
    const done = station === state.destination;
    return { next: { ...state, passenger: station }, reward: done ? 20 : -1, done };
  }
  return { next: state, reward: action === 'pickup' || action === 'dropoff' ? -10 : -1, done: false };
}

/** Numbers what a task or state says but for its way: some 500 places. */
const placeOf = ({ row, column, passenger, destination }: TaxiTask): number =>
  ((row * SIZE + column) * 5 + passenger - ABOARD) * 4 + destination;
const read: string[] = [];

/** What to do next and how far it is, what lies on each side, and where the passenger wants to go. */
function observe(state: TaxiTask): string {
  const known = read[placeOf(state)];
  if (known !== undefined) return known;
  const stop = nextStop(state);
  const signed = (n: number): string => (n < 0 ? `${n}` : `+${n}`);
  const sides = SIDES.map((side) => `${side}:${sameCell(drive(state, side), state) ? 'wall' : 'free'}`);
  const aboard = state.passenger === ABOARD;
  const said = [
    `${aboard ? 'bring' : 'fetch'}:${stop.name}`,
    `rows${signed(stop.row - state.row)}`,
    `cols${signed(stop.column - state.column)}`,
    ...sides,
    ...(aboard ? [] : [`to:${STATIONS[state.destination]!.name}`]),
  ].join(' ');
  read[placeOf(state)] = said;
  return said;
}

/** `@` the taxi, a capital the station where the passenger waits, `*` the destination. */
function mark(state: TaxiTask, cell: Cell): string {
  if (sameCell(state, cell)) return '@';
  const station = STATIONS.findIndex((place) => sameCell(place, cell));
  if (station < 0) return '.';
  const initial = STATIONS[station]!.name[0]!;
  return station === state.destination ? '*' : station === state.passenger ? initial.toUpperCase() : initial;
}

function key({ row, column, passenger, destination }: TaxiTask): string {
  return `${row},${column},${passenger},${destination}`;
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'taxi',
  description: 'Fetch a passenger at one station of a small town and bring them to another.',
  options: optionsSchema,
  settings: {
    steps: 25,
    clone: { demonstrations: 300, beginnerShare: 0.5, randomRate: 0.1, steps: 100, batch: 16 },
    rollout: { tasks: 16, group: 8 },
    optimizer: { learningRate: 1e-3 },
  },
  create: ({ wording, ...options }) => fromEnvironment(taxi(options), { wording }),
});
