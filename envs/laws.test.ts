/** The laws that every built-in environment keeps, whatever its options. A new folder is found by itself. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WorldFactory } from '../src/env/factory.ts';
import { environmentNames } from '../src/run/load/environments.ts';
import { environmentLaws } from '../src/testing/environment-laws.ts';

const names = readdirSync(import.meta.dirname).filter((name) =>
  existsSync(join(import.meta.dirname, name, 'index.ts')),
);

test('every folder is listed under its name', () => {
  expect([...environmentNames].sort()).toEqual([...names].sort());
});

test('those whose tasks one completion can answer say which', async () => {
  const truthful = await Promise.all(
    names.map(async (name) => {
      const { world } = (await import(`./${name}/index.ts`)) as { readonly world: WorldFactory };
      return world.create(world.options.parse({})).truth ? [name] : [];
    }),
  );
  expect(truthful.flat()).toEqual([
    'countdown',
    'guess-my-city',
    'guess-number',
    'hidden-rules',
    'js-tasks',
    'mastermind',
    'twenty-questions',
    'wordle',
  ]);
});

/** Rules of chess.js, in games of 60 turns and short ones; a search after every step; long episodes in large worlds. */
const FEWER: Readonly<Record<string, number>> = {
  chess: 3,
  'chess-endgames': 10,
  missions: 20,
  household: 8,
  'science-lab': 4,
};

test.each(names)('%s keeps the laws in each of its options', { timeout: 180_000 }, async (name) => {
  const { world } = (await import(`./${name}/index.ts`)) as { readonly world: WorldFactory };
  expect(world.name).toBe(name);
  await environmentLaws(world, name in FEWER ? { episodes: FEWER[name]! } : {});
});
