/** What calls hold is kept together, and is read as before. */

import { expect, test } from 'vitest';
import { CallStore } from './call-store.ts';

test('short arrays are views into common buffers, and none overlaps another', () => {
  const store = new CallStore();
  const given = Array.from({ length: 400 }, (_, index) =>
    Int32Array.from({ length: index % 9 }, (_, at) => index + at),
  );
  const ids = given.map((values) => store.ids(values));
  const numbers = given.map((values) => store.numbers(Float32Array.from(values, (value) => -value / 2)));
  const again = given.map((values) => store.ids(values));
  expect(ids).toEqual(given);
  expect(again).toEqual(given);
  expect(numbers).toEqual(given.map((values) => Float32Array.from(values, (value) => -value / 2)));
  const buffers = new Set([...ids, ...numbers, ...again].map(({ buffer }) => buffer));
  expect(buffers.size).toBeLessThan(10);
});

test('long arrays stay as they are, and short ones are no longer their givers', () => {
  const store = new CallStore();
  const long = new Int32Array(1025);
  expect(store.ids(long)).toBe(long);
  const short = Int32Array.of(1, 2);
  const kept = store.ids(short);
  short[0] = 7;
  expect([...kept]).toEqual([1, 2]);
});

test('equal authors and settings of sampling are one object', () => {
  const store = new CallStore();
  const author = (version: number) => ({ kind: 'policy', name: 'learner', version }) as const;
  const first = store.author(author(1));
  expect(store.author(author(1))).toBe(first);
  expect(store.author(author(2))).toEqual(author(2));
  const usual = { temperature: 1, topP: 1, topK: 0 };
  const sampling = store.sampling(usual, 8);
  expect(sampling).toEqual({ ...usual, maxTokens: 8 });
  expect(store.sampling({ ...usual }, 8)).toBe(sampling);
  expect(store.sampling(usual, 7)).toEqual({ ...usual, maxTokens: 7 });
  expect(store.sampling({ ...usual, temperature: 0.5 }, 7).temperature).toBe(0.5);
});
