/** Bundles for browsers read settings as Node does: every schema of theirs, on values of all kinds, against zod. */

import { describe, expect, test } from 'vitest';
import { z as zod } from 'zod';
import { Rng } from '../../core/rng.ts';
import { turnFacts } from '../../env/facts.ts';
import { objectives } from '../../objective/objectives.ts';
import { builtIns } from '../../train/config/catalogue.ts';
import { trainConfigSchema } from '../../train/config/config.ts';
import { wholeSchema } from '../../train/config/run-schema.ts';
import { recipes } from '../../train/recipes/recipes.ts';
import { trainInBrowser } from '../train.ts';
import { frozenLake, guessNumber, kuhnPoker, maze, wordle } from '../worlds.ts';
import type { NumberSchema } from './kinds.ts';
import type { Schema, Wrapper } from './schema.ts';
import { z } from './zod.ts';

interface ZodCheck {
  readonly _zod: { readonly def: Readonly<Record<string, unknown>> };
}

interface ZodDef {
  readonly type: string;
  readonly innerType: zod.ZodType;
  readonly element: zod.ZodType;
  readonly valueType: zod.ZodType;
  readonly in: zod.ZodType;
  readonly out: zod.ZodType;
  readonly transform: (value: never) => unknown;
  readonly defaultValue: unknown;
  readonly options: readonly zod.ZodType[];
  readonly values: readonly unknown[];
  readonly entries: Readonly<Record<string, string>>;
  readonly catchall?: zod.ZodType;
  readonly error?: (issue: object) => string;
  readonly checks?: readonly ZodCheck[];
  readonly check?: string;
  readonly format?: string;
  readonly getter: () => zod.ZodType;
}

const defOf = (schema: zod.ZodType): ZodDef => schema.def as unknown as ZodDef;

/** Built again with ours, as bundles build it. */
function again(schema: zod.ZodType): Schema {
  const own = defOf(schema);
  const base = baseOf(schema, own);
  const checks = [
    ...(own.check === 'number_format' ? [{ _zod: { def: { ...own } } }] : []),
    ...(own.checks ?? []),
  ];
  const checked = checks.reduce((one, { _zod: { def } }) => withCheck(one, def), base);
  return schema.description === undefined ? checked : checked.describe(schema.description);
}

function baseOf(schema: zod.ZodType, own: ZodDef): Schema {
  switch (own.type) {
    case 'number':
      return z.number();
    case 'string':
      return z.string();
    case 'boolean':
      return z.boolean();
    case 'null':
      return z.null();
    case 'unknown':
      return z.unknown();
    case 'never':
      return z.never();
    case 'lazy':
      return z.json();
    case 'literal':
      return z.literal(own.values);
    case 'enum':
      return z.enum(Object.values(own.entries));
    case 'array':
      return z.array(again(own.element));
    case 'record':
      return z.record(z.string(), again(own.valueType));
    case 'union':
      return z.union(own.options.map(again), own.error && { error: own.error({}) });
    case 'default':
      return again(own.innerType).default(own.defaultValue);
    case 'prefault':
      return again(own.innerType).prefault(own.defaultValue);
    case 'optional':
      return again(own.innerType).optional();
    case 'nullable':
      return again(own.innerType).nullable();
    case 'pipe':
      return again(own.in).transform(defOf(own.out).transform);
    case 'object': {
      const shape = Object.fromEntries(
        Object.entries((schema as zod.ZodObject).shape).map(([key, child]) => [
          key,
          again(child as zod.ZodType),
        ]),
      );
      if (own.catchall === undefined) return z.object(shape);
      return own.catchall instanceof zod.ZodNever ? z.strictObject(shape) : z.looseObject(shape);
    }
    default:
      throw new Error(
        `Browsers have no ${own.type}: add it to src/browser/schemas, or write the schema without it`,
      );
  }
}

function withCheck(schema: Schema, def: Readonly<Record<string, unknown>>): Schema {
  const number = schema as NumberSchema;
  switch (def.check) {
    case 'number_format':
      return number.int();
    case 'greater_than':
      return def.inclusive ? number.min(def.value as number) : number.gt(def.value as number);
    case 'less_than':
      return def.inclusive ? number.max(def.value as number) : number.lt(def.value as number);
    case 'min_length':
      return number.min(def.minimum as number);
    case 'max_length':
      return number.max(def.maximum as number);
    case 'custom':
      return schema.refine(def.fn as () => unknown, {
        error: (def.error as (issue: object) => string)({}),
        path: def.path as string[],
      });
    default:
      throw new Error(`Browsers have no check ${def.check}: add it to src/browser/schemas`);
  }
}

const oddities: readonly unknown[] = [
  ...[undefined, null, true, false, 0, 1, -1, 2, 0.5, 1.5, 7, 1e9, -1e13, 2 ** 60, Number.NaN, Infinity],
  ...[
    '',
    'none',
    'compact',
    'x',
    'attention',
    [],
    [1, 2],
    ['a'],
    [[1]],
    {},
    { a: 1 },
    new Map(),
    new Date(0),
  ],
];

/** A value that the schema may take, or nearly: at every place something odd now and then. */
function madeFor(schema: zod.ZodType, rng: Rng, oddness: number): unknown {
  if (rng.next() < oddness) return oddities[rng.int(oddities.length)];
  const own = defOf(schema);
  switch (own.type) {
    case 'object': {
      const entries = Object.entries((schema as zod.ZodObject).shape).flatMap(([key, child]) =>
        rng.next() < 0.5 ? [] : [[key, madeFor(child as zod.ZodType, rng, oddness)] as const],
      );
      const more = rng.next() < oddness ? [['strange', 1] as const] : [];
      return Object.fromEntries([...entries, ...more]);
    }
    case 'number':
      return [0, 1, 2, 0.5, 0.1, 8, 64][rng.int(7)];
    case 'array':
      return Array.from({ length: rng.int(3) }, () => madeFor(own.element, rng, oddness));
    case 'record':
      return { a: madeFor(own.valueType, rng, oddness), b: madeFor(own.valueType, rng, oddness) };
    case 'enum':
      return Object.values(own.entries)[0];
    case 'literal':
      return own.values[0];
    case 'union':
      return madeFor(own.options[rng.int(own.options.length)]!, rng, oddness);
    case 'boolean':
      return rng.next() < 0.5;
    case 'string':
      return 'text';
    case 'pipe':
      return madeFor(own.in, rng, oddness);
    default:
      return own.innerType ? madeFor(own.innerType, rng, oddness) : null;
  }
}

function told(schema: { safeParse(value: unknown): unknown }, value: unknown): unknown {
  const parsed = schema.safeParse(value) as zod.ZodSafeParseResult<unknown>;
  if (parsed.success) return parsed;
  return parsed.error.issues.map(({ code, path, message, ...rest }) => ({
    ...{ code, path, message },
    ...('keys' in rest && { keys: rest.keys }),
  }));
}

const worlds = { frozenLake, guessNumber, kuhnPoker, maze, wordle };
const schemas: readonly (readonly [string, zod.ZodType])[] = [
  ['all settings', trainConfigSchema],
  ...recipes.map((recipe) => [`recipe ${recipe.name}`, wholeSchema(recipe, {})] as const),
  ...Object.entries(worlds).map(([name, { options }]) => [`world ${name}`, options] as const),
  ...objectives.map(({ name, schema }) => [`objective ${name}`, schema] as const),
  ...(['credit', 'shapings', 'tasks', 'turns', 'contexts', 'curations'] as const).flatMap((kind) =>
    builtIns[kind].all.map(({ name, options }) => [`${kind} ${name}`, options as zod.ZodType] as const),
  ),
  ['facts of a turn', zod.strictObject(turnFacts)],
];

describe('the schemas of a browser', () => {
  test.each(schemas)('%s takes and refuses as in Node', (name, schema) => {
    const rng = Rng.of('schemas', name);
    const ours = again(schema);
    const seen = new Set<boolean>();
    for (const value of oddities) expect(told(ours, value), String(value)).toEqual(told(schema, value));
    for (let round = 0; round < 24; round++) {
      const value = madeFor(schema, rng, [0, 0.05, 0.3][round % 3]!);
      const theirs = told(schema, value);
      expect(told(ours, value), JSON.stringify(value)).toEqual(theirs);
      seen.add(Array.isArray(theirs));
    }
    expect(seen.has(true)).toBe(true);
  });

  test('a description stays with the schema that has it', () => {
    for (const lib of [z, zod] as unknown as (typeof z)[]) {
      const described = lib.number().describe('a number');
      expect(described.min(1).description).toBe('a number');
      expect((described.default(3) as Wrapper).description).toBeUndefined();
      expect((described.default(3) as Wrapper).unwrap().description).toBe('a number');
      const group = lib.strictObject({ a: described }).describe('a group');
      expect(group.extend({ b: described }).description).toBeUndefined();
      expect(Object.keys(group.extend({ b: described }).shape)).toEqual(['a', 'b']);
    }
  });

  test('an object of ours takes schemas that somebody made with zod', () => {
    const theirs = zod.strictObject({ size: zod.int().default(4) });
    const mixed = z.strictObject({
      world: theirs.prefault({}) as unknown as Schema,
      name: zod.string() as unknown as Schema,
    });
    expect(mixed.parse({ name: 'x' })).toEqual({ world: { size: 4 }, name: 'x' });
    const pure = zod.strictObject({ world: theirs.prefault({}), name: zod.string() });
    for (const value of [{}, { name: 1 }, { name: 'x', world: { size: 'y', more: 1 } }])
      expect(told(mixed, value)).toEqual(told(pure, value));
  });

  test('the module that is shipped refuses settings in the words of Node, whatever the recipe', async () => {
    type Module = { readonly trainInBrowser: typeof trainInBrowser; readonly recipes: typeof recipes };
    const built = new URL('../../../dist/browser/index.js', import.meta.url).href;
    const shipped = (await import(/* @vite-ignore */ built)) as Module;
    const refusal = ({ trainInBrowser, recipes }: Module, name: string, settings: object): string => {
      const recipe = recipes.find((one) => one.name === name)!;
      try {
        trainInBrowser({ runtime: {} as never, world: frozenLake, recipe, settings });
      } catch (error) {
        return String(error);
      }
      return 'none';
    };
    const refused = [
      { stepz: 3 },
      { optimizer: { learningRate: -1 } },
      { credit: { method: 'gae', alpha: 1 } },
    ];
    for (const { name } of recipes)
      for (const settings of refused) {
        const told = refusal({ trainInBrowser, recipes }, name, settings);
        expect(told).toMatch(/stepz|learningRate|credit|alpha/);
        expect(refusal(shipped, name, settings)).toBe(told);
      }
  });

  test('one level of a default is everybody’s own', () => {
    const list = z.array(z.number()).default([1]);
    (list.parse(undefined) as number[]).push(2);
    expect(list.parse(undefined)).toEqual([1]);
  });
});
