import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readLmrl } from './lmrl.ts';
import { lmrlPage } from './page.ts';
import { METHODS, normalised, TASKS } from './tasks.ts';

const root = new URL('../../', import.meta.url).pathname;

test('scores of the repository of LMRL-Gym are normalised as in its paper', () => {
  const maze = { least: -101, mean: -83, most: -6.84 };
  expect([-72.1, -56.4, -48.1, -6.97].map((score) => Math.round(10 * normalised(score, maze)) / 10)).toEqual([
    57.2, 67.5, 72.9, 99.9,
  ]);
  const endgames = { least: -1, mean: 0.586, most: 1 };
  expect(normalised(0.112, endgames)).toBeCloseTo(35.1, 1);
  expect(normalised(0.814, endgames)).toBeCloseTo(77.5, 1);
  expect(normalised(-83, maze)).toBe(50);
});

test('every task has the scores of the paper', () => {
  for (const { paper } of TASKS) {
    expect(Object.keys(paper)).toEqual(METHODS.filter((method) => method !== 'archer'));
  }
});

test('docs/lmrl-gym.md is what the results say: npm run bench -- lmrl --report', () => {
  expect(readFileSync(`${root}docs/lmrl-gym.md`, 'utf8')).toBe(
    lmrlPage(readLmrl(`${root}bench/lmrl/results`)),
  );
});

test('in chess no method got beyond imitation, as the page says', () => {
  const { cells } = readLmrl(`${root}bench/lmrl/results`).find(({ task }) => task.name === 'chess')!;
  const returns = METHODS.map((method) => {
    const cell = cells[method];
    return cell && 'return' in cell ? cell.return : Number.NaN;
  });
  expect(Math.max(...returns)).toBe(returns[METHODS.indexOf('bc')]);
});
