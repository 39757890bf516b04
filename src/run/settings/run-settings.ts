/** What the command line may set for a run: the keys of its configuration, its environment and its credit method. */

import { z } from 'zod';
import { findCreditMethod } from '../../credit/methods.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { type TrainSettings, trainConfigSchema } from '../../train/config.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { applySettings } from './settings.ts';

/**
 * The settings that `key=value` assignments make, each key checked by name.
 *
 * @throws TurnwiseError `setting-syntax`, `config-unknown-key`, `config-invalid`
 */
export function readSettings(factory: WorldFactory, recipe: Recipe, set: readonly string[]): TrainSettings {
  const schema = settingsSchema(factory.options, recipe, set);
  return applySettings(schema, {}, set, `training ${factory.name}`) as TrainSettings;
}

/** The settings of a run, with those of its environment and of its credit method, so that each key is checked by name. */
export function settingsSchema(
  environment: z.ZodType | undefined,
  recipe: Recipe | undefined,
  set: readonly string[],
): z.ZodType {
  const chosen = set.findLast((assignment) => assignment.startsWith('credit.method='))?.split('=')[1];
  const method = chosen ?? recipe?.settings.credit?.method;
  const options = method === undefined ? undefined : findCreditMethod(method).options;
  const credit = trainConfigSchema.shape.credit.unwrap();
  return trainConfigSchema.extend({
    ...(recipe?.lossOptions && {
      objective: trainConfigSchema.shape.objective.unwrap().extend({ options: recipe.lossOptions }),
    }),
    ...(environment && { environment }),
    ...(options instanceof z.ZodObject && { credit: z.strictObject({ ...credit.shape, ...options.shape }) }),
  });
}

/** The recipe of whoever names none. */
export function defaultRecipe(factory: WorldFactory): string {
  return factory.create(factory.options.parse({})).roles.length > 1 ? 'self-play' : 'rloo';
}
