/** The configuration of a run beside what it would be if nobody had set anything. */

import { z } from 'zod';
import type { Json } from '../../core/json/json.ts';
import { leaves } from '../../core/json/leaves.ts';
import { environmentNames, findEnvironment } from '../../run/load/environments.ts';
import type { RunFile } from '../../store/run-file.ts';
import type { TrainSettings } from '../../train/config/config.ts';
import { mergeSettings } from '../../train/config/merge.ts';
import { resolveConfig } from '../../train/config/resolve.ts';
import { recipes } from '../../train/recipes/recipes.ts';
import type { Setting } from '../shapes.ts';

/** Settings that decide which others there are: what they bring along is no difference. */
const choices = [
  ['credit', 'method'],
  ['objective', 'name'],
  ['data'],
  ['engine'],
  ['tinker', 'baseUrl'],
  ['tinker', 'baseModel'],
  ['model', 'pretrained'],
] as const;

/** All settings, in their order. The environment of somebody's file is not loaded: that would run its code. */
export async function settingsOf(file: RunFile): Promise<Setting[]> {
  const usual = new Map(await usualSettings(file));
  return leaves(file.config as Json).map(([key, value]) => {
    const expected = usual.get(key);
    return {
      key,
      value,
      ...(expected !== undefined && { usual: expected }),
      differs: usual.size > 0 && JSON.stringify(value) !== JSON.stringify(expected),
    };
  });
}

async function usualSettings({ recipe: name, world, config }: RunFile): Promise<[string, Json][]> {
  try {
    const recipe = recipes.find((one) => one.name === name);
    if (!recipe) return [];
    const factory = environmentNames.includes(world.source) ? await findEnvironment(world.source) : undefined;
    const chosen = choices.reduce<Record<string, unknown>>((settings, path) => {
      const value = path.reduce<unknown>(
        (inner, key) => (inner as Record<string, unknown> | undefined)?.[key],
        config,
      );
      if (value === undefined || value === '') return settings;
      const nested = [...path].reverse().reduce<unknown>((inner, key) => ({ [key]: inner }), value);
      return mergeSettings(settings, nested as Record<string, unknown>);
    }, {});
    // The environment's own suggestions are usual too, where they can be known.
    const ordinary = resolveConfig({
      recipe,
      environmentOptions: factory?.options ?? z.looseObject({}),
      ...(factory?.settings && { environmentSettings: factory.settings }),
      settings: chosen as TrainSettings,
    });
    // What decides was decided by somebody, unless the recipe says the same.
    const unset = resolveConfig({
      recipe,
      environmentOptions: factory?.options ?? z.looseObject({}),
      ...(factory?.settings && { environmentSettings: factory.settings }),
      settings: {},
    });
    const decided = new Map(leaves(unset as unknown as Json));
    const keys = choices.map((path) => path.join('.'));
    return leaves(ordinary as unknown as Json).map(([key, value]) => [
      key,
      keys.includes(key as (typeof keys)[number]) ? (decided.get(key) ?? value) : value,
    ]);
  } catch {
    return [];
  }
}
