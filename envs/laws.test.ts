/** The laws that every built-in environment keeps, whatever its options. New folders are found by themselves. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { brokenWorldLaw } from '../src/env/environment-laws.ts';
import type { WorldFactory } from '../src/env/factory.ts';
import { brokenTruth } from '../src/env/truth-law.ts';
import type { World } from '../src/env/world.ts';
import { environmentNames } from '../src/run/load/environments.ts';

/** Numbers that are worth trying beside the defaults. Switches and choices are all tried. */
const NUMBERS: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  'frozen-lake': { slip: [0.3] },
  'guess-number': { range: [2, 7, 64], shaping: [0.1] },
  maze: { maxTurns: [1, 12] },
  wordle: { listed: [0] },
};

const names = readdirSync(import.meta.dirname).filter((name) =>
  existsSync(join(import.meta.dirname, name, 'index.ts')),
);

const factories = await Promise.all(
  names.map(async (name) => {
    const module = (await import(`./${name}/index.ts`)) as { readonly world: WorldFactory };
    return module.world;
  }),
);

/** The default options, and each other choice of one option. */
function variants({ name, options }: WorldFactory): readonly Readonly<Record<string, unknown>>[] {
  const shape = options instanceof z.ZodObject ? (options.shape as Readonly<Record<string, z.ZodType>>) : {};
  const others = Object.entries(shape).flatMap(([key, field]) => {
    const inner = field instanceof z.ZodDefault ? field.def.innerType : field;
    const listed =
      inner instanceof z.ZodEnum ? inner.options : inner instanceof z.ZodBoolean ? [true, false] : [];
    return [...listed, ...(NUMBERS[name]?.[key] ?? [])].map((value) => ({ [key]: value }));
  });
  const seen = new Set<string>();
  return [{}, ...others].filter((given) => {
    const meaning = JSON.stringify(options.parse(given));
    return !seen.has(meaning) && seen.add(meaning);
  });
}

const SPLITS = ['train', 'validation', 'test'] as const;

test('every folder is listed under its name', () => {
  expect(factories.map(({ name }) => name)).toEqual(names);
  expect([...environmentNames].sort()).toEqual([...names].sort());
});

test('those whose tasks one completion can answer say which', () => {
  const truthful = factories.filter((factory) => factory.create(factory.options.parse({})).truth);
  expect(truthful.map(({ name }) => name)).toEqual(['guess-number', 'js-tasks', 'wordle']);
});

const worlds = factories.flatMap((factory) =>
  variants(factory).map((options): [string, World] => [
    `${factory.name} ${JSON.stringify(options)}`,
    factory.create(factory.options.parse(options)),
  ]),
);

describe.each(worlds)('%s', (_, world) => {
  test('keeps the laws under random play with nonsense in between', async () => {
    // A live session is slower by a factor of hundreds than a reducer.
    const live = world.name === 'js-tasks';
    for (let seed = 0; seed < (live ? 10 : 100); seed++) {
      const tasks = world.tasks(SPLITS[seed % 3]!);
      const task = tasks.at(seed % tasks.size);
      expect({ seed, broken: await brokenWorldLaw(world, task, seed) }).toEqual({ seed, broken: undefined });
    }
  });

  test('is solved at once by its truth, where it has one', async () => {
    for (let index = 0; index < 10; index++) {
      const tasks = world.tasks(SPLITS[index % 3]!);
      expect(await brokenTruth(world, tasks.at(index % tasks.size), index)).toBeUndefined();
    }
  });

  test('gives the same task for the same index, for ever', () => {
    for (const split of SPLITS) {
      const [first, again] = [world.tasks(split), world.tasks(split)];
      expect(first.size).toBeGreaterThan(0);
      for (let index = 0; index < Math.min(first.size, 20); index++) {
        expect(again.at(index)).toEqual(first.at(index));
      }
    }
  });
});
