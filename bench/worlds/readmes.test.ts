/** The README of an environment says how it is learned, and with the figures that are stored. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { environmentNames } from '../../src/run/load/environments.ts';
import { readResults } from './learning.ts';

const stored = readResults(new URL('results', import.meta.url).pathname);
const root = new URL('../..', import.meta.url).pathname;

/** What stands under this heading, on one line. */
function learningOf(environment: string): string | undefined {
  const readme = readFileSync(`${root}/envs/${environment}/README.md`, 'utf8');
  const parts = readme.split(/\n\n(?=\*\*)/);
  return parts.find((part) => part.startsWith('**Learning**'))?.replaceAll('\n', ' ');
}

test.each(environmentNames)('%s says how it is learned', (environment) => {
  expect(learningOf(environment)).toMatch(/`(npm run bench -- worlds|npx turnwise train) /);
});

/** The stored results whose command the page names, with the pairs of figures beside it. */
const shown = stored.flatMap(({ environment, given, seeds }) => {
  const name = [environment, ...(given.length > 0 ? [given.join(',')] : [])].join(':');
  const text = learningOf(environment) ?? '';
  if (seeds.length === 0 || !text.includes(`npm run bench -- worlds ${name}\``)) return [];
  const figures = [...text.matchAll(/(\d\.\d\d) → (\d\.\d\d)/g)].map(([, before, after]) => [before, after]);
  return figures.length === 0 ? [] : [{ name, figures, seeds }];
});

test('most pages show figures in this form', () => {
  expect(shown.length).toBeGreaterThanOrEqual(15);
});

test.each(shown)('$name has the figures of bench/worlds/results', ({ figures, seeds }) => {
  expect(figures).toEqual(
    seeds.map(({ before, after }) => [before.success.toFixed(2), after.success.toFixed(2)]),
  );
});
