/** From a recipe, an environment's suggestions and a person's settings to one complete, strict configuration. */

import type { z } from 'zod';
import { nearest, TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { findCreditMethod } from '../credit/methods.ts';
import { type TrainConfig, type TrainSettings, trainConfigSchema } from './config.ts';
import type { Recipe } from './recipes/recipe.ts';

type Plain = { readonly [key: string]: unknown };

/** Later layers win, key by key. */
export function mergeSettings(...layers: readonly (Plain | undefined)[]): Plain {
  const merged: Record<string, unknown> = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) {
      const below = merged[key];
      merged[key] = isPlain(value) && isPlain(below) ? mergeSettings(below, value) : value;
    }
  }
  return merged;
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Schema defaults < recipe < environment < person. Unknown keys and bad values are errors that name the key, the nearest
 * valid one and what is allowed. Options of the environment and of the credit method are checked by their own schemas.
 */
export function resolveConfig(parts: {
  readonly recipe: Recipe;
  readonly environmentOptions: z.ZodType;
  readonly environmentSettings?: Plain;
  readonly settings: TrainSettings;
}): TrainConfig {
  const layered = mergeSettings(
    parts.recipe.settings as Plain,
    parts.environmentSettings,
    parts.settings as Plain,
  );
  const config = parseStrict(trainConfigSchema, layered, []);
  const environment = parseStrict(parts.environmentOptions, config.environment, ['environment']);
  const { method, rewardScale, ...options } = config.credit;
  const creditOptions = parseStrict(findCreditMethod(method).options, options, ['credit']);
  if (config.model.width % (2 * config.model.heads) !== 0) {
    throw new TurnwiseError('config-invalid', {
      what: 'model.heads does not fit model.width',
      seen: `heads ${config.model.heads}, width ${config.model.width}`,
      allowed: 'a width that is a multiple of twice the heads, since positions rotate pairs of channels',
      next: 'Change one of them with --set',
    });
  }
  return {
    ...config,
    environment: environment as TrainConfig['environment'],
    credit: { method, rewardScale, ...(creditOptions as Record<string, Json>) },
  };
}

/** Parse with a schema; the first problem becomes a TurnwiseError that says which key, what was seen and what is allowed. */
export function parseStrict<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: readonly string[],
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const inside = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const key = [...path, ...inside, issue.keys[0]!].join('.');
    const known = keysOf(schema, inside).map((name) => [...path, ...inside, name].join('.'));
    const near = nearest(key, known);
    throw new TurnwiseError('config-unknown-key', {
      what: `There is no setting ${key}`,
      seen: key,
      allowed: known.join(', ') || 'nothing: this part takes no settings',
      next: near ? `Did you mean ${near}?` : 'Run `turnwise train --help` for the full list',
      fields: { key },
    });
  }
  const key = [...path, ...inside].join('.');
  throw new TurnwiseError('config-invalid', {
    what: `The value of ${key || 'the configuration'} is not valid`,
    seen: JSON.stringify(valueAt(value, inside)) ?? 'nothing',
    allowed: issue.message,
    next: 'Correct it and run again',
    fields: { key },
  });
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Plain | undefined)?.[key], value);
}

/** The keys that the object schema at `path` accepts. */
function keysOf(schema: z.ZodType, path: readonly string[]): string[] {
  let at: unknown = schema;
  for (const key of [...path, undefined]) {
    while (isWrapper(at)) at = at.def.innerType;
    const shape = (at as { shape?: Record<string, unknown> } | undefined)?.shape;
    if (key === undefined) return Object.keys(shape ?? {});
    at = shape?.[key];
  }
  return [];
}

function isWrapper(schema: unknown): schema is { def: { innerType: unknown } } {
  return typeof schema === 'object' && schema !== null && 'def' in schema
    ? (schema.def as { innerType?: unknown }).innerType !== undefined
    : false;
}
