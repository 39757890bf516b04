import { expect, expectTypeOf, test } from 'vitest';
import { canonicalJson, type Json } from '../core/json/json.ts';
import { user } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { type Base, type Based, defineBase } from './base.ts';
import { defineEnvironment } from './environment.ts';
import { fromEnvironment } from './from-environment.ts';
import { brokenLaw } from './laws/environment-laws.ts';

interface Order {
  readonly status: string;
  readonly items: readonly string[];
}

interface Shop {
  readonly orders: { readonly [id: string]: Order };
  readonly note: string;
}

/** 2.8 MB of orders. */
const SIZE = 28_000;

function orders(count: number): Shop {
  const entries = Array.from({ length: count }, (_, id) => [
    String(id),
    { status: 'open', items: [`item ${id}`, 'a'.repeat(50)] },
  ]);
  return { note: '', orders: Object.fromEntries(entries) };
}

const shop = defineBase('shop', orders(100));

test('a state holds what was changed, and shows the whole', () => {
  expectTypeOf(shop).toEqualTypeOf<Base<Shop>>();
  const one = shop.set(shop.unchanged, ['orders', '7', 'status'], 'sent');
  const two = shop.remove(shop.set(one, ['note'], 'a/b~c'), ['orders', '8']);
  expect(canonicalJson(two as Json)).toBe(
    `{"base":"${shop.id}","changes":{"/note":["a/b~c"],"/orders/7/status":["sent"],"/orders/8":[]}}`,
  );
  const seen = shop.view(two);
  expect([seen.note, seen.orders['7']!.status, seen.orders['8'], seen.orders['9']]).toEqual([
    'a/b~c',
    'sent',
    undefined,
    shop.data.orders['9'],
  ]);
  // What did not change is shared, and earlier states show what they showed.
  expect(seen.orders['9']).toBe(shop.data.orders['9']);
  expect([shop.view(one).note, shop.data.orders['7']!.status]).toEqual(['', 'open']);
  expect(() => {
    (seen.orders['7'] as { status: string }).status = 'stolen';
  }).toThrow();
});

test('the same changes show the same data, wherever they come from', () => {
  const appended = shop.set(shop.unchanged, ['orders', '3', 'items', 2], 'extra');
  const replaced = shop.set(appended, ['orders', '3'], { status: 'new', items: [] });
  const within = shop.set(replaced, ['orders', '3', 'items', 0], 'one');
  expect(Object.keys(within.changes)).toEqual(['/orders/3', '/orders/3/items/0']);
  for (const state of [appended, replaced, within]) {
    const again = JSON.parse(JSON.stringify(state)) as Based;
    expect(shop.view(again)).toEqual(shop.view(state));
    expect(shop.get(again, ['orders', '3'])).toEqual(shop.view(state).orders['3']);
  }
  expect(shop.view(within).orders['3']).toEqual({ status: 'new', items: ['one'] });
});

test('data that is no JSON, paths that lead nowhere and states of other data are refused', () => {
  const other = defineBase('shop', orders(99));
  const failures = [
    () => defineBase('shop', { a: Number.NaN }),
    () => shop.view(other.unchanged),
    () => shop.set(shop.unchanged, ['orders', '700', 'status'], 'sent'),
    () => shop.set(shop.unchanged, ['orders', '7', 'items', 9], 'far'),
    () => shop.remove(shop.unchanged, ['orders', '7', 'items', 0]),
    () => shop.set(shop.unchanged, ['note', 'deeper'], 1),
    () => shop.remove(shop.unchanged, []),
  ].map((work) => {
    try {
      work();
    } catch (error) {
      return (error as Error).message.replace(/@[0-9a-f]{32}/g, '@HASH');
    }
    return 'none';
  });
  expect(failures).toMatchInlineSnapshot(`
    [
      "The base "shop" holds something that is not JSON. Seen: at $.a. Allowed: plain JSON.",
      "The base "shop" is not what a state stands on. Seen: shop@HASH. Allowed: shop@HASH.",
      "The base "shop" has nothing at a path. Seen: /orders/700. Allowed: existing keys of objects and indices of arrays.",
      "The base "shop" has nothing at a path. Seen: "9" of an array of 2. Allowed: an index in it, or the one after the last; set the whole array to take something out.",
      "The base "shop" has nothing at a path. Seen: "0" of an array of 2. Allowed: an index in it, or the one after the last; set the whole array to take something out.",
      "The base "shop" has nothing at a path. Seen: /note. Allowed: existing keys of objects and indices of arrays.",
      "The base "shop" cannot be changed whole. Seen: an empty path. Allowed: a path into the data.",
    ]
  `);
});

const sending = (base: Base<Shop>) =>
  defineEnvironment<number, { readonly turn: number; readonly shop: Based }>({
    name: 'sending',
    description: 'Send orders.',
    maxTurns: 1000,
    tasks: [1, 2, 3],
    start: () => ({ state: { turn: 0, shop: base.unchanged }, messages: [user('send')] }),
    step({ turn, shop: state }, action) {
      const valid = base.get(state, ['orders', action]) !== undefined;
      return {
        state: {
          turn: turn + (valid ? 1 : 0),
          shop: valid ? base.set(state, ['orders', action, 'status'], 'sent') : state,
        },
        observation: String(base.get(state, ['orders', action, 'status']) ?? 'none'),
        reward: 0,
        done: false,
        valid,
      };
    },
    actions: () => ['0', '1', '2', '3', '4'],
  });

test('an environment on a base keeps the laws, and its snapshots hold changes alone', async () => {
  for (let seed = 0; seed < 3; seed++) {
    expect(await brokenLaw({ ...sending(shop), maxTurns: 8 }, 1, seed)).toBeUndefined();
  }
  const large = defineBase('large', orders(SIZE));
  expect(JSON.stringify(large.data).length).toBeGreaterThan(2.8e6);
  const session = await fromEnvironment(sending(large)).open(1, Rng.of(1));
  const { signal } = new AbortController();
  for (let id = 0; id < 5; id++) await session.step(String(id), signal);
  const snapshot = await session.snapshot!();
  expect(JSON.stringify(snapshot.toJson!()).length).toBeLessThan(500);
  expect(session.anchor('agent').length).toBeLessThan(500);
});

test('a step on 2.8 MB costs a hundredth of one that carries them', async () => {
  const large = defineBase('large', orders(SIZE));
  const carrying = defineEnvironment<number, Shop>({
    name: 'carrying',
    description: '',
    maxTurns: 1000,
    tasks: [1, 2, 3],
    start: () => ({ state: structuredClone(large.data), messages: [] }),
    step: (state, action) => ({
      state: JSON.parse(JSON.stringify({ ...state, note: action })) as Shop,
      observation: '',
      reward: 0,
      done: false,
      valid: true,
    }),
  });
  const { signal } = new AbortController();
  const [based, carried] = await Promise.all(
    [fromEnvironment(sending(large)), fromEnvironment(carrying)].map((world) => world.open(1, Rng.of(1))),
  );
  const time = async (session: typeof based, action: string): Promise<number> => {
    const began = performance.now();
    await session!.step(action, signal);
    session!.anchor('agent');
    return performance.now() - began;
  };
  const median = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1]!;
  const times: { based: number[]; carried: number[] } = { based: [], carried: [] };
  for (let id = 0; id < 9; id++) {
    times.based.push(await time(based!, String(id)));
    times.carried.push(await time(carried!, String(id)));
  }
  expect(median(times.carried) / median(times.based)).toBeGreaterThan(100);
});
