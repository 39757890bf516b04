/** The recipe of a run: built in, of a file, or made in code. `config.json` keeps by which of these it is found again. */

import { z } from 'zod';
import { kindOf } from '../../core/definition.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import { valueText } from '../../core/safe-text.ts';
import type { RunDirectory } from '../../store/run-directory.ts';
import type { RunFile } from '../../store/run-file.ts';
import { storedConfigSchema, type TrainConfig, trainConfigSchema } from '../../train/config/config.ts';
import { missingOwn } from '../../train/config/own-definitions.ts';
import type { RunSettings } from '../../train/config/setting-objects.ts';
import type { ChosenRecipe, Recipe } from '../../train/recipes/recipe.ts';
import { findRecipe, recipes } from '../../train/recipes/recipes.ts';
import { type Definition, isDefinition, isFileReference, loadDefinition } from '../load/definitions.ts';
import { CODE } from '../load/world-source.ts';
import { ownDefinitionLost } from './definition-refusals.ts';

/** What `train({ recipe })` takes: a name, a file, or what `defineRecipe` returned, with or without settings. */
export type RecipeInput = string | Recipe | ChosenRecipe;

export interface NamedRecipe {
  readonly recipe: Recipe;
  /** A built-in name, the absolute path of a file, or `code:NAME`. */
  readonly source: string;
  /** With which it was chosen. */
  readonly settings: RunSettings;
}

/** @throws TurnwiseError `recipe-unknown`, `file-unknown`, `file-unusable`, `config-invalid` for an object that is no recipe */
export async function nameRecipe(input: RecipeInput): Promise<NamedRecipe> {
  if (typeof input === 'string') {
    if (!isFileReference(input)) return { recipe: findRecipe(input), source: input, settings: {} };
    const { value: recipe, source } = await loadDefinition('recipe', input);
    return { recipe, source, settings: {} };
  }
  const { recipe, settings } = isDefinition('recipe', input) ? { recipe: input, settings: {} } : input;
  if (!isDefinition('recipe', recipe)) throw noRecipe(input);
  return { recipe, settings, source: recipes.includes(recipe) ? recipe.name : `${CODE}:${recipe.name}` };
}

/** `config.json`, complete: what only a recipe of a user reads is checked once that recipe is there. */
export function readRunFile(run: RunDirectory): RunFile<TrainConfig> {
  const { recipe } = run.readConfig(z.unknown());
  const isBuiltIn = recipes.some(({ name }) => name === recipe);
  return run.readConfig(isBuiltIn ? trainConfigSchema : storedConfigSchema);
}

/**
 * The recipe of a run that exists, which still takes the settings that the run has.
 *
 * @param given what only a program has
 * @throws TurnwiseError `definition-in-code`, `definition-lost`, `config-unknown-key`, `config-invalid`
 */
export async function recipeOfRun(
  run: string,
  { recipe: source, config }: { readonly recipe: string; readonly config: TrainConfig },
  given: readonly Definition[] = [],
): Promise<Recipe> {
  const recipe = await findAgain(run, source, given);
  const own = Object.entries(config).filter(([key]) => !(key in trainConfigSchema.shape));
  if (recipe.options) parseStrict(recipe.options, Object.fromEntries(own), `Recipe "${recipe.name}"`);
  const [lost] = missingOwn(recipe, config);
  if (lost) throw ownDefinitionLost(lost.kind, lost.name, recipe.name, run);
  return recipe;
}

async function findAgain(run: string, source: string, given: readonly Definition[]): Promise<Recipe> {
  if (source.startsWith(`${CODE}:`)) {
    const name = source.slice(CODE.length + 1);
    const found = given.find((one) => isDefinition('recipe', one) && one.name === name);
    if (found) return found as Recipe;
    throw new TurnwiseError('definition-in-code', {
      what: `Run "${run}" was trained with the recipe "${name}", an object made in code, which cannot be loaded from here`,
      next: `Go on in that program with resume('${run}', { definitions: [...] }), or define it in a file`,
      fields: { definition: name },
    });
  }
  try {
    return (await nameRecipe(source)).recipe;
  } catch (cause) {
    if (!isFileReference(source) || !TurnwiseError.isInstance(cause)) throw cause;
    throw new TurnwiseError('definition-lost', {
      what: `Run "${run}" was trained with the recipe of ${source}, which cannot be loaded any more: ${cause.message.replace(/\.$/, '')}`,
      next: 'Restore the file, then run the same command again',
      fields: { run, path: source },
      cause,
    });
  }
}

function noRecipe(input: unknown): TurnwiseError {
  return new TurnwiseError('config-invalid', {
    what: '"recipe" is not a recipe',
    seen: kindOf(input) ?? valueText(input),
    allowed: 'a name, a file, or what defineRecipe returns',
    fields: { key: 'recipe' },
  });
}
