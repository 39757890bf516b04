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

test.each(stored.filter(({ seeds }) => seeds.length > 0))(
  '$environment has the figures of bench/worlds/results',
  ({ environment, given, seeds }) => {
    const text = learningOf(environment) ?? '';
    const command = `npm run bench -- worlds ${[environment, ...(given.length > 0 ? [given.join(',')] : [])].join(':')}\``;
    if (!text.includes(command)) return;
    const shown = [...text.matchAll(/(\d\.\d\d) → (\d\.\d\d)/g)].map(([, before, after]) => [before, after]);
    if (shown.length === 0) return;
    expect(shown).toEqual(
      seeds.map(({ before, after }) => [before.success.toFixed(2), after.success.toFixed(2)]),
    );
  },
);
