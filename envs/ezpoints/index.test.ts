import { expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { DEALS, ezPoints, world } from './index.ts';

const defaults = world.options.parse({});
const environment = ezPoints(defaults);
const rng = Rng.of(0);

it('two cards make 12 in 7 ways, and their formulas are right', () => {
  const sums = [
    [2, 10],
    [3, 9],
    [4, 8],
    [5, 7],
    [6, 6],
  ];
  const products = [
    [2, 6],
    [3, 4],
  ];
  expect(DEALS.map(({ cards }) => cards.join()).sort()).toEqual([...sums, ...products].map(String).sort());
});

it('scripted players do as the README says', async () => {
  expect(await scores(world.create(defaults), 350)).toMatchInlineSnapshot(`
    [
      "expert 1.000 10.000 4.00",
      "beginner 0.511 4.626 4.00",
      "random 0.014 -0.843 3.48",
    ]
  `);
});

it('has neither - nor parentheses, and ends with the token after the fifth', () => {
  const state = environment.start({ cards: [4, 8], target: 12 }, rng).state;
  for (const token of ['-', '/', '(', ')', '12'])
    expect(environment.step(state, token, rng)).toMatchObject({ valid: false, reward: -1, done: false });
  expect(environment.step({ ...state, steps: 4 }, '4', rng)).toMatchObject({ reward: 0, done: false });
  expect(environment.step({ ...state, steps: 5 }, '4', rng)).toMatchObject({ reward: -1, done: true });
});

it('corrects a thought that cannot come true', () => {
  const state = environment.start({ cards: [4, 8], target: 12 }, rng).state;
  expect(environment.correctThought!(state, 'aim 4 * 8', rng)).toBe('aim 4 + 8');
  expect(environment.correctThought!(state, 'aim 8 + 4', rng)).toBe('aim 8 + 4');
  expect(environment.correctThought!({ ...state, formula: ['8'] }, 'aim 4 + 8', rng)).toBe('aim 8 + 4');
});

it('with other targets, splits differ', () => {
  const { tasks } = ezPoints({ ...defaults, targets: 'any' });
  const first = (split: 'train' | 'test') =>
    Array.from({ length: 100 }, (_, index) => JSON.stringify(tasks(split).at(index)));
  const train = new Set(first('train'));
  expect(first('test').some((task) => train.has(task))).toBe(false);
});

it('keeps the laws without thoughts', () => environmentLaws(world, { options: [{ thoughts: false }] }));
