/** The laws of environments, as one call that throws: for any test framework, and for none. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { WorldFactory } from '../env/factory.ts';
import { brokenWorldLaw } from '../env/laws/environment-laws.ts';
import { brokenTruth } from '../env/laws/truth-law.ts';
import { brokenWordingLaw } from '../env/laws/wording-law.ts';
import { optionsForReaders } from '../env/wording.ts';
import type { World } from '../env/world.ts';
import { factoryUnderTest, type TestedWorld } from './world-under-test.ts';

export interface LawOptions {
  /** Options to try. Default: those of the world by default, and each other switch and choice among them. */
  readonly options?: readonly JsonObject[];
  /** Episodes for each of them. Default 100 of a reducer, 10 of a live world. */
  readonly episodes?: number;
}

const SPLITS = ['train', 'validation', 'test'] as const;

/**
 * Play a world at random, with nonsense in between, over all splits and options, and throw at the first promise that is
 * broken: replies that a rollout accepts, steps that change no state, the same transcript for the same seed, nonsense that is
 * invalid, snapshots that go the same way, tasks that stay the same, truths that solve them, wordings that differ in words alone.
 *
 * @example
 * test('treasure keeps the laws', () => environmentLaws(treasure));
 *
 * @throws TurnwiseError `law-broken` with the options, split, task and seed that show it; `config-invalid` for what is no world
 */
export async function environmentLaws<Task, State>(
  tested: TestedWorld<Task, State>,
  { options: tried, episodes }: LawOptions = {},
): Promise<void> {
  const factory = factoryUnderTest(tested);
  for (const options of tried ?? variants(factory)) {
    const world = factory.create(factory.options.parse(options));
    const count = episodes ?? (world.pure ? 100 : 10);
    for (const split of SPLITS) requireTasks(world, split, options);
    await everyTask(world, options, count, (task, seed) => brokenWorldLaw(world, task, seed));
    await everyTask(world, options, Math.min(count, 10), (task, seed) => brokenTruth(world, task, seed));
    const natural = inNaturalWords(factory, options);
    if (natural === undefined) continue;
    await everyTask(world, options, count, (task, seed) => brokenWordingLaw(world, natural, task, seed));
  }
}

/** The same world for models that read; undefined where there is none, or where the options name a wording. */
function inNaturalWords(factory: WorldFactory, options: JsonObject): World | undefined {
  const reading = optionsForReaders(factory.options);
  if (reading.wording === undefined || 'wording' in options) return undefined;
  return factory.create(factory.options.parse({ ...options, ...reading }));
}

async function everyTask(
  world: World,
  options: JsonObject,
  count: number,
  law: (task: Json, seed: number) => Promise<string | undefined>,
): Promise<void> {
  for (let seed = 0; seed < count; seed++) {
    const split = SPLITS[seed % 3]!;
    const tasks = world.tasks(split);
    const index = seed % tasks.size;
    const broken = await law(tasks.at(index), seed);
    if (broken !== undefined) throw lawBroken(world, broken, { options, split, index, seed });
  }
}

function requireTasks(world: World, split: (typeof SPLITS)[number], options: JsonObject): void {
  const [first, again] = [world.tasks(split), world.tasks(split)];
  if (!(first.size > 0)) throw lawBroken(world, 'a split has no tasks', { options, split });
  for (let index = 0; index < Math.min(first.size, 20); index++) {
    if (!isDeepStrictEqual(first.at(index), again.at(index)))
      throw lawBroken(world, 'the same index gave two tasks', { options, split, index });
  }
}

/** The default options, and each other choice of one option. */
function variants({ options }: WorldFactory): readonly JsonObject[] {
  const shape = options instanceof z.ZodObject ? (options.shape as Readonly<Record<string, z.ZodType>>) : {};
  const others = Object.entries(shape).flatMap(([key, field]) => {
    const inner = field instanceof z.ZodDefault ? field.def.innerType : field;
    const listed =
      inner instanceof z.ZodEnum ? inner.options : inner instanceof z.ZodBoolean ? [true, false] : [];
    return listed.map((value) => ({ [key]: value }));
  });
  const seen = new Set<string>();
  return [{}, ...others].filter((given) => {
    const meaning = JSON.stringify(options.parse(given));
    return !seen.has(meaning) && seen.add(meaning);
  });
}

function lawBroken(world: World, broken: string, where: JsonObject): TurnwiseError {
  return new TurnwiseError('law-broken', {
    what: `"${world.name}" breaks a law of environments: ${broken}`,
    seen: JSON.stringify(where),
    next: 'Play this task with this seed again; docs/write-an-environment.md describes each part',
    fields: { environment: world.name, ...('seed' in where && { seed: where.seed as number }) },
  });
}
