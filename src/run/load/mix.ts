/** Loads the worlds of a mix, and gives it the options of all of them: `--set environment.wordle.words=16`. */

import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../core/json/json.ts';
import { isPath } from '../../core/reference.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { invalidMix, type Mix, mix } from '../../env/mix/mix.ts';
import { mixWorlds } from '../../env/mix/mix-worlds.ts';
import { factoryOf } from './world-object.ts';

const PREFIX = 'mix:';

/** Whether a name is a mix, as it is typed in a command. */
export const isMixName = (name: string): boolean => name.startsWith(PREFIX);

/**
 * `mix:frozen-lake=3,./mine.ts#stairs=1`; a weight of 1 may be left out.
 *
 * @param folder in which relative paths begin
 * @throws TurnwiseError `mix-invalid`
 */
export function parseMixName(name: string, folder: string): Mix {
  const parts = name
    .slice(PREFIX.length)
    .split(',')
    .map((part) => {
      const [, world = '', weight = '1'] = /^(.*?)(?:=([^=]*))?$/.exec(part.trim()) ?? [];
      return [placed(world, folder), Number(weight)] as const;
    });
  const twice = parts.find(([world], index) => parts.findIndex(([other]) => other === world) !== index);
  if (twice) throw invalidMix('A mix names a world twice', twice[0], 'each world once, with its weight');
  if (parts.some(([world]) => world === ''))
    throw invalidMix('A mix names no world', name, 'worlds with commas between');
  return mix(Object.fromEntries(parts));
}

/** The name of a mix that finds the same worlds from any folder. */
export function mixSource({ entries }: Mix): string {
  return `${PREFIX}${entries.map(({ world, weight }) => `${String(world)}=${weight}`).join(',')}`;
}

function placed(world: string, folder: string): string {
  return isPath(world) && !isAbsolute(world) ? resolve(folder, world) : world;
}

/**
 * @param find loads a world by its name, path or address
 * @param folder in which relative paths begin
 * @throws TurnwiseError `mix-invalid`, and what `find` raises
 */
export async function mixFactory(
  { entries, name }: Mix,
  find: (name: string) => Promise<WorldFactory>,
  folder: string,
): Promise<WorldFactory> {
  const parts = await Promise.all(
    entries.map(async ({ world, weight, name: own }) => {
      const factory = typeof world === 'string' ? await find(placed(world, folder)) : factoryOf(world);
      if (factory) return { factory, weight, name: metricName(own ?? factory.name) };
      throw invalidMix(
        `"${own}" of a mix is no world`,
        typeof world,
        'what a define… function returned, or a name',
      );
    }),
  );
  const options = z.strictObject(
    Object.fromEntries(
      parts.map((part) => [part.name, (part.factory.options as z.ZodType<object>).prefault({})]),
    ),
  );
  const create: WorldFactory['create'] = (chosen) =>
    mixWorlds(
      parts.map((part) => ({
        name: part.name,
        weight: part.weight,
        world: part.factory.create((chosen as Record<string, JsonObject>)[part.name]),
      })),
      name,
    );
  const all = parts.map((part) => part.name);
  return {
    name: name ?? all.join('+'),
    description: `Tasks of several worlds: ${parts.map((part) => `${part.name} (${part.weight})`).join(', ')}.`,
    options,
    create,
  };
}

/** An address is no name of a metric. */
const metricName = (name: string): string => name.replaceAll(/[^\w.-]+/g, '-');
