import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { environmentNames } from '../../src/run/load/environments.ts';
import { figuresPage, storedFigures } from './figures.ts';
import { readSpeed } from './speed.ts';

const root = new URL('../..', import.meta.url).pathname;

test('the page says what is stored', () => {
  expect(readFileSync(`${root}/docs/environment-figures.md`, 'utf8')).toBe(storedFigures(root));
});

test('every environment has a row, with its oracle', () => {
  const rows = storedFigures(root).matchAll(/^\| \[`([^`]+)`\][^|]*\|[^|]*\|[^|]*\| ([^|]+) \|/gm);
  const oracles = new Map([...rows].map(([, name, oracle]) => [name!, oracle!]));
  expect([...oracles.keys()].sort()).toEqual([...environmentNames].sort());
  expect([...oracles].filter(([, oracle]) => oracle === '–')).toEqual([]);
});

test('what falls short is said', () => {
  const [first] = readSpeed(root).environments;
  const original = { name: 'minigrid X', version: '1', stepsPerSecond: 10, ratio: 9 };
  const page = (parts: object): string =>
    figuresPage({ machine: 'a machine', environments: [{ ...first!, ...parts }] }, [], new Map());
  expect(page({ originals: [original] })).toContain('(9 × minigrid X)');
  expect(page({ originals: [{ ...original, ratio: 10 }] })).toContain('All originals are met');
  expect(page({ originals: [{ ...original, name: 'open-spiel X' }] })).toContain('All originals are met');
  expect(page({ originals: [], ofNothing: 0.1 })).toContain('Below the last');
  expect(page({ originals: [], ofNothing: 0.2 })).toContain('None is below the last');
});
