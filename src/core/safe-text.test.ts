import { expect, test } from 'vitest';
import { hostileThrows, wrongValues } from '../rollout/testing/hostile-values.ts';
import { cut, isThenable, thrownText, valueText } from './safe-text.ts';

test('describing never throws and stays short, whatever the value does', () => {
  for (const make of [...hostileThrows, ...wrongValues]) {
    expect(thrownText(make()).length).toBeLessThanOrEqual(500);
    expect(valueText(make()).length).toBeLessThanOrEqual(500);
    expect(isThenable(make())).toBe(false);
  }
});

test('values are named in a few words', () => {
  class Board {}
  const values = [undefined, null, -0, 'a', 7n, () => 7, [1], [1, 2], {}, { a: 1, b: 2 }, new Board()];
  expect([...values, Promise.resolve(), Object.create(null)].map(valueText)).toEqual([
    ...['undefined', 'null', '-0', '"a"', 'a BigInt', 'a function', 'an array of 1', 'an array of 2'],
    ...['an empty object', 'an object with a, b', 'an object of class Board', 'a promise', 'an empty object'],
  ]);
});

test('what was thrown is told by its message, or else by what it is', () => {
  const thrown = [
    new Error('broken'),
    'text',
    { message: 'foreign' },
    new TypeError(),
    { code: 1 },
    undefined,
  ];
  expect(thrown.map((value) => thrownText(value))).toEqual([
    ...['broken', 'text', 'foreign', 'TypeError', 'an object with code was thrown', 'undefined was thrown'],
  ]);
});

test('long texts say how long they were', () => {
  expect(cut('x'.repeat(1000), 40)).toBe(`${'x'.repeat(20)} … (1000 characters)`);
  expect(cut('short', 40)).toBe('short');
});
