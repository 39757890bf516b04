/** From a recipe, an environment's suggestions and a person's settings to one complete, strict configuration. */

import type { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { parseStrict } from '../core/parse-strict.ts';
import { findCreditMethod } from '../credit/methods.ts';
import { findRewardShaping } from '../credit/shaping/shapings.ts';
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
  const config = parseStrict(trainConfigSchema, layered, 'A run');
  const environment = parseStrict(parts.environmentOptions, config.environment, 'This environment', [
    'environment',
  ]);
  const { method, rewardScale, shape, ...options } = config.credit;
  const creditOptions = parseStrict(findCreditMethod(method).options, options, `Credit method "${method}"`, [
    'credit',
  ]);
  const shapes = Object.entries(shape).map(([name, given]) => {
    const shaping = findRewardShaping(name);
    return [
      shaping.name,
      parseStrict(shaping.options, given, `Reward shaping "${shaping.name}"`, ['credit', 'shape', name]),
    ] as const;
  });
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
    credit: {
      method,
      rewardScale,
      shape: Object.fromEntries(shapes) as TrainConfig['credit']['shape'],
      ...(creditOptions as Record<string, Json>),
    },
  };
}
