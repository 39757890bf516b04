/** One schema for each recipe and environment: help, `--set` and `config.json` know the same keys, and all others are refused. */

import { describe, expect, test } from 'vitest';
import { settingLines } from '../../cli/help.ts';
import type { TrainSettings } from '../../train/config/config.ts';
import { trainConfigSchema } from '../../train/config/config.ts';
import { resolveConfig } from '../../train/config/resolve.ts';
import { leavesOf, ownConfig } from '../../train/config/run-schema.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { recipes } from '../../train/recipes/recipes.ts';
import { environmentNames, findEnvironment } from '../load/environments.ts';
import { readSettings, settingsSchema } from './run-settings.ts';
import { openKeys, schemaFields } from './schema-fields.ts';

const factories = await Promise.all(environmentNames.map(findEnvironment));

/** Each recipe, and those that may learn from recorded episodes in both ways. */
const cases = recipes.flatMap((recipe) => {
  const sources = recipe.learnsFrom === 'either' ? ['', 'demonstrations'] : [undefined];
  return sources.map((data) => [`${recipe.name}${data ? ` from ${data}` : ''}`, recipe, data] as const);
});

const setOf = (data: string | undefined): string[] => (data === undefined ? [] : [`data=${data}`]);

/** Dotted keys of a configuration, down to the leaves that the schema has. */
function keysOf(value: unknown, known: readonly string[], path: readonly string[] = []): string[] {
  const key = path.join('.');
  if (typeof value !== 'object' || value === null || Array.isArray(value) || known.includes(key))
    return [key];
  return Object.entries(value).flatMap(([name, own]) => keysOf(own, known, [...path, name]));
}

describe.each(cases)('%s', (_, recipe: Recipe, data) => {
  const [first] = factories;
  const set = setOf(data);

  test.each(factories.map((factory) => [factory.name, factory] as const))('in %s', (_name, factory) => {
    const schema = settingsSchema(factory.options, recipe, set, undefined, factory.settings);
    const keys = schemaFields(schema).map(({ key }) => key);
    const help = settingLines(schema, { columns: 10_000, colour: false });
    const listed = new Set(help.map((line) => /^ {2}([^ =]+)/.exec(line)?.[1]));
    expect(keys.filter((key) => !listed.has(key))).toEqual([]);

    const settings = (data === undefined ? {} : { data }) as TrainSettings;
    const config = resolveConfig({
      recipe,
      settings,
      environmentOptions: factory.options,
      ...(factory.settings && { environmentSettings: factory.settings }),
    });
    const stored = keysOf(ownConfig(recipe, config), keys).filter((key) => key !== '');
    const open = openKeys(schema);
    expect(
      stored.filter((key) => !keys.includes(key) && !open.some((group) => key.startsWith(`${group}.`))),
    ).toEqual([]);
    expect(keys.filter((key) => !stored.includes(key))).toEqual([]);
  });

  test('every key of any recipe is a setting or is refused', () => {
    const factory = first!;
    const schema = settingsSchema(factory.options, recipe, set, undefined, factory.settings);
    const keys = leavesOf(schema);
    const others = recipes.flatMap((other) => (other.options ? leavesOf(other.options) : []));
    const all = [...new Set([...leavesOf(trainConfigSchema), ...others])];
    const refused = all.filter((key) => !keys.includes(key));
    expect(refused.length).toBeGreaterThan(0);
    for (const key of refused) {
      const read = (): unknown => readSettings(factory, recipe, [...set, `${key}=1`]);
      expect(read, key).toThrow(expect.objectContaining({ code: 'config-unknown-key' }));
    }
    const accepted = schemaFields(schema).flatMap(({ key, default: value }) => {
      // Another method than the one of the recipe or the environment has other options.
      const names = key === 'data' || /^credit\.method$|\.name$/.test(key);
      if (value === undefined || Array.isArray(value) || names) return [];
      return [`${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`];
    });
    expect(accepted.length).toBeGreaterThan(20);
    expect(() => readSettings(factory, recipe, [...set, ...accepted])).not.toThrow();
  });
});
