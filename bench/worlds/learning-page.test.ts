import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readResults } from './learning.ts';
import { isApart, learningPage } from './learning-page.ts';

const results = readResults(new URL('results', import.meta.url).pathname);

test('the page says what is stored', () => {
  const page = readFileSync(new URL('../../docs/learned-worlds.md', import.meta.url), 'utf8');
  expect(page).toBe(learningPage(results));
});

test('a seed has learned where the intervals do not touch', () => {
  const score = (low: number, high: number) => ({
    ...{ episodes: 500, success: (low + high) / 2, successInterval: [low, high] as [number, number] },
    ...{ return: 0, returnInterval: [0, 0] as [number, number] },
  });
  const seed = (before: [number, number], after: [number, number]) =>
    isApart({ seed: 1, steps: 1, seconds: 1, before: score(...before), after: score(...after) });
  expect(seed([0.2, 0.3], [0.31, 0.4])).toBe(true);
  expect(seed([0.2, 0.3], [0.29, 0.4])).toBe(false);
  expect(seed([0.31, 0.4], [0.2, 0.3])).toBe(false);
});

test('what failed is shown, and counts', () => {
  const page = learningPage([
    { ...results[0]!, seeds: [], failed: [{ seed: 1, reason: 'longer than 600 s' }] },
  ]);
  expect(page).toContain('| 0 of 1 |');
  expect(page).toContain('longer than 600 s');
});
