import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createWorld, findEnvironment } from '../../src/run/load/environments.ts';
import { prepareRun } from '../../src/run/prepare-run.ts';
import { readSettings } from '../../src/run/settings/run-settings.ts';
import { findRecipe } from '../../src/train/recipes/recipes.ts';
import { readLmrl } from './lmrl.ts';
import { lmrlPage } from './page.ts';
import { ARMS, DATA, METHODS, normalised, TASKS } from './tasks.ts';

const root = new URL('../..', import.meta.url).pathname;
const results = readLmrl(`${root}/bench/lmrl/results`);

test('the page says what is stored', () => {
  expect(readFileSync(`${root}/docs/lmrl-gym.md`, 'utf8')).toBe(lmrlPage(results));
});

test("scores are on the paper's scale", () => {
  expect([-101, -83, -6.84].map((value) => normalised(value, -101, -83, -6.84))).toEqual([0, 50, 100]);
  // Raw returns and scores of the paper: ILQL and PPO on the fully observed maze, PPO on the other one, BC on endgames.
  expect(normalised(-6.97, -101, -83, -6.84)).toBeCloseTo(99.9, 1);
  expect(normalised(-37.7, -101, -83, -6.84)).toBeCloseTo(79.7, 1);
  expect(normalised(-91.7, -101, -83, -25.75)).toBeCloseTo(25.8, 1);
  expect(normalised(0.112, -1, 0.586, 1)).toBeCloseTo(35.1, 1);
});

test('seeds are averaged, and what was not run is not a number', () => {
  const result = { task: 'wordle', commit: 'x', least: -6, average: -4, most: -2, failed: [] };
  const page = lmrlPage([{ ...result, scores: { bc: [-4, -3], ilql: [-2] } }]);
  expect(page).toContain(
    '| Wordle, 48 words | −6, −4, −2 | 62.5 ± 17.7 | not run | not run | 100.0 | not run | not run |',
  );
  expect(page).toContain('| Maze, fully observed | not run | not run (57.2) |');
});

test.each(Object.entries(TASKS))(
  '%s is a world that every method learns in, with the worst return that is said',
  async (_, task) => {
    const options = task.settings.map((setting) => setting.replace(/^environment\./, ''));
    const world = createWorld(await findEnvironment(task.environment), options);
    expect(world.tasks('test').size).toBeGreaterThan(0);
    if (world.returns && task.environment !== 'chess-endgames') expect(world.returns[0]).toBe(task.least);
    for (const arm of ARMS) {
      const recipe = findRecipe(METHODS[arm].recipe);
      const factory = await findEnvironment(task.environment);
      const settings = readSettings(factory, recipe, [...task.settings, ...METHODS[arm].settings]);
      expect(prepareRun(factory, recipe, settings).config.clone).toMatchObject(DATA);
    }
  },
);
