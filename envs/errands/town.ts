/** A day in a town: when orders are told, changed and asked for, what is passed in between, and what can be known without memory. */

import type { Rng } from '../../src/core/rng.ts';

export const PLACES = 'mill inn church school bridge harbour farm tower market well castle park'.split(
  ' ',
) as readonly string[];
export const SHOPS = 'baker butcher tailor cobbler smith potter chandler cooper'.split(
  ' ',
) as readonly string[];
export const THINGS = 'box basket letter sack crate jar roll bundle'.split(' ') as readonly string[];

/** Turns between what is told of an order and its first question, where the day is long enough. */
export const GAP = 20;

export type Order = {
  readonly thing: string;
  readonly shop: string;
  readonly place: string;
  /** The turn in which it is told. */
  readonly told: number;
};

/** It goes elsewhere. */
export type Change = { readonly order: number; readonly place: string; readonly told: number };

export type Day = {
  readonly orders: readonly Order[];
  readonly changes: readonly Change[];
  /** The round through the town: the place and the shopkeeper that come first, and how far it is to the next. */
  readonly round: { readonly place: number; readonly shop: number; readonly stride: number };
};

export interface DayOptions {
  readonly turns: number;
  readonly orders: number;
  readonly changes: number;
}

/** The first turn that asks: two for each order, at the end. */
export const firstQuestion = ({ turns, orders }: Pick<DayOptions, 'turns' | 'orders'>): number =>
  turns - 2 * orders;

/** Turns that lie at least between an order and its first question. */
export const gapOf = (options: Pick<DayOptions, 'turns' | 'orders'>): number =>
  Math.min(GAP, firstQuestion(options));

export function drawDay(options: DayOptions, rng: Rng): Day {
  const evening = firstQuestion(options);
  const spare = evening - gapOf(options);
  const things = rng.shuffle(THINGS);
  const shops = rng.shuffle(SHOPS);
  const after = Array.from({ length: options.orders }, () => rng.int(spare + 1)).sort((a, b) => a - b);
  // Order i is asked for in turn evening + 2i. Two turns an order leave none without a turn of its own.
  const orders = after.map((turn, index) => ({
    ...{ thing: things[index]!, shop: shops[index]!, place: rng.pick(PLACES) },
    told: turn + 2 * index - (index > 0 ? rng.int(2) : 0),
  }));
  const taken = new Set(orders.map(({ told }) => told));
  const changes: Change[] = [];
  for (const order of rng.shuffle([...orders.keys()]).slice(0, rng.int(options.changes + 1))) {
    const { told, place } = orders[order]!;
    const free = Array.from({ length: evening }, (_, turn) => turn).filter(
      (turn) => turn > told && !taken.has(turn),
    );
    if (free.length === 0) continue;
    const at = rng.pick(free);
    taken.add(at);
    changes.push({ order, told: at, place: rng.pick(PLACES.filter((other) => other !== place)) });
  }
  changes.sort((one, other) => one.told - other.told);
  const round = {
    place: rng.int(PLACES.length),
    shop: rng.int(SHOPS.length),
    stride: rng.pick([1, 5, 7, 11]),
  };
  return { orders, changes, round };
}

/** What a turn is about. */
export type Turn =
  | { readonly kind: 'order'; readonly order: Order }
  | { readonly kind: 'change'; readonly thing: string; readonly place: string }
  | { readonly kind: 'walk'; readonly place: string; readonly shop: string }
  | { readonly kind: 'shop' | 'place'; readonly thing: string; readonly answer: string };

export function turnOf(day: Day, turn: number, evening: number): Turn {
  const { orders, changes, round } = day;
  if (turn >= evening) {
    const index = Math.floor((turn - evening) / 2);
    const { thing, shop } = orders[index]!;
    const isFirst = (turn - evening) % 2 === 0;
    return isFirst
      ? { kind: 'shop', thing, answer: shop }
      : { kind: 'place', thing, answer: placeOf(day, index) };
  }
  const order = orders.find(({ told }) => told === turn);
  if (order) return { kind: 'order', order };
  const change = changes.find(({ told }) => told === turn);
  if (change) return { kind: 'change', thing: orders[change.order]!.thing, place: change.place };
  const next = (from: number, among: readonly string[]) =>
    among[(from + turn * round.stride) % among.length]!;
  return { kind: 'walk', place: next(round.place, PLACES), shop: next(round.shop, SHOPS) };
}

/** Where an order goes, by what has been told up to and with a turn. */
export function placeOf({ orders, changes }: Day, order: number, turn = Number.POSITIVE_INFINITY): string {
  const change = changes.find((one) => one.order === order && one.told <= turn);
  return change?.place ?? orders[order]!.place;
}

/**
 * The best that a player can do who reads the present turn alone, or so few turns that no order is in sight when it is asked
 * for (fewer than the gap). Shops are told once and each serves one order, so the best is to know the places and to name a shop
 * of its own for each thing; a player who sees one turn guesses the places too, since all are equally likely.
 */
export function bestWithoutMemory(orders: number, knowsPlaces: boolean): number {
  let chance = 1;
  for (let index = 0; index < orders; index++)
    chance /= (SHOPS.length - index) * (knowsPlaces ? 1 : PLACES.length);
  return chance;
}
