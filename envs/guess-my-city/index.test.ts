import { expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { CITIES, guessMyCity, QUESTIONS, world } from './index.ts';

const defaults = world.options.parse({});
const game = guessMyCity(defaults);
const rng = Rng.of(0);

test('a hundred cities, whose names no answer tells', () => {
  expect(CITIES).toHaveLength(100);
  const names = CITIES.map(({ name }) => name);
  expect(new Set(names).size).toBe(100);
  const told = CITIES.flatMap(({ answers }) => Object.values(answers));
  expect(told.filter((answer) => names.includes(answer))).toEqual([]);
  for (const { answers } of CITIES) expect(Object.keys(answers)).toEqual(Object.keys(QUESTIONS));
});

test('the expert needs few questions more than naming would cost if all four answers were known', async () => {
  // Once all four answers are known, only names are left: a set of n costs (n - 1) / 2 on average.
  const groups = new Map<string, number>();
  for (const { answers } of CITIES) {
    const key = JSON.stringify(answers);
    groups.set(key, (groups.get(key) ?? 0) + 1);
  }
  const naming = [...groups.values()].reduce((sum, size) => sum + (size * (size - 1)) / 2, 0) / 100;
  const city = world.create(defaults);
  let sum = 0;
  for (const { name } of CITIES) {
    const played = await playEpisode(city, name, 0, 'expert');
    expect(played.success).toBe(true);
    sum -= played.outcome;
  }
  expect(sum / 100).toBeGreaterThan(naming + 1);
  expect(sum / 100).toBeLessThan(naming + 3);
});

test('questions in words and in sentences, names, and what is neither', () => {
  const { state } = game.start('paris', rng);
  expect(game.step(state, 'country', rng)).toMatchObject({
    reward: -1,
    done: false,
    observation: 'left:1 paris',
  });
  expect(game.step(state, 'On which continent is it?', rng).observation).toBe('left:10 continent:europe');
  expect(game.step(state, 'rome', rng)).toMatchObject({ reward: -1, valid: true, done: false });
  expect(game.step(state, 'Paris', rng)).toMatchObject({ reward: 0, done: true, success: true });
  expect(game.step(state, 'is it nice', rng)).toMatchObject({
    reward: -1,
    valid: false,
    observation: 'invalid left:100',
  });
});
